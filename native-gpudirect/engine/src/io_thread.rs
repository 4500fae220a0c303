use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{JoinHandle, Thread};

use tokio::runtime::{Builder, Runtime};

use crate::panics::caught;
use crate::worker::Worker;

/// A thread that does a worker's work.
pub(crate) struct IoThread {
    pub worker: Arc<Worker>,
    handle: Option<JoinHandle<()>>,
}

impl IoThread {
    /// # Errors
    /// The system gave no thread or no event queue.
    pub fn start(worker: Arc<Worker>) -> io::Result<IoThread> {
        let work = Arc::clone(&worker).run();
        IoThread::doing(worker, work)
    }

    /// `work`: an error says why it cannot go on.
    pub fn doing(
        worker: Arc<Worker>,
        work: impl Future<Output = Result<(), String>> + Send + 'static,
    ) -> io::Result<IoThread> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let its = Arc::clone(&worker);
        let thread = std::thread::Builder::new().name(format!("os2g-io-{}", worker.index));
        let handle = thread.spawn(move || live(runtime, &its, work))?;
        Ok(IoThread {
            worker,
            handle: Some(handle),
        })
    }

    /// Waits for the end of a thread whose worker was closed.
    pub fn join(&mut self) {
        if let Some(handle) = self.handle.take() {
            // A panic outside the worker's work can only be of what the caller's code does as it is dropped.
            let _ = handle.join();
        }
    }
}

/// The thread from its start to its end.
fn live(runtime: Runtime, worker: &Worker, work: impl Future<Output = Result<(), String>>) {
    let done = caught(|| runtime.block_on(work)).and_then(|done| done);
    worker.pool().close();
    // Ends what still runs. A name look-up in another thread is not waited for; it touches nothing of ours.
    runtime.shutdown_background();
    if let Err(why) = done {
        park_on(worker.refuse_all(&why));
    }
}

/// Runs a future that waits for no socket and no timer: what is left to a thread whose runtime has failed.
fn park_on(future: impl Future<Output = ()>) {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    while future
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending()
    {
        std::thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests;
