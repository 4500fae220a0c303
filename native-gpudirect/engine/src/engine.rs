use std::any::Any;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use os2g_wire::{Credentials, RequestWriter};

use crate::completions::Completions;
use crate::dial::Dialer;
use crate::failure::Failure;
use crate::io_thread::IoThread;
use crate::options::{EngineOptions, StartError};
use crate::records::{Completion, GET, Submission};
use crate::regions::RegionId;
use crate::shared::Shared;
use crate::table::ObjectTable;
use crate::worker::{Job, Worker};

/// A running engine. Every method may be called from any thread and returns at once; only [`Engine::close`], and dropping it,
/// which is the same, wait.
pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<IoThread>,
}

impl Engine {
    /// Starts the I/O threads.
    ///
    /// `wake` is called from an I/O thread, once for each [`Engine::arm`] that returned false, when completions wait. It must
    /// not wait for the engine. A panic in it costs that one wake-up and becomes a notice.
    ///
    /// # Errors
    /// An option that cannot be, certificates that cannot be read, or no thread from the system.
    pub fn start(
        options: EngineOptions,
        table: Arc<dyn ObjectTable>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Engine, StartError> {
        Engine::start_on(options, table, wake, IoThread::start)
    }

    /// As [`Engine::start`]; `thread` starts the thread of a worker.
    pub(crate) fn start_on(
        options: EngineOptions,
        table: Arc<dyn ObjectTable>,
        wake: Box<dyn Fn() + Send + Sync>,
        thread: impl Fn(Arc<Worker>) -> io::Result<IoThread>,
    ) -> Result<Engine, StartError> {
        check(&options)?;
        let dialer = Dialer::new(&options)?;
        let shared = Arc::new(Shared::new(options, table, Completions::new(wake), dialer));
        let mut engine = Engine {
            shared,
            threads: Vec::new(),
        };
        for index in 0..engine.shared.options.threads {
            let writer = RequestWriter::new(engine.shared.target());
            let writer = writer.map_err(|verdict| StartError::Option("store", verdict.what))?;
            let worker = Worker::new(Arc::clone(&engine.shared), index, writer);
            engine
                .threads
                .push(thread(Arc::new(worker)).map_err(StartError::System)?);
        }
        Ok(engine)
    }

    /// Registers memory where bodies land. `keep` is dropped by [`Engine::close`], on the thread that calls it, after the last
    /// transfer into the memory has ended.
    ///
    /// # Safety
    /// `ptr` must be valid for reads and writes of `len` bytes from any thread until `keep` is dropped. While an attempt runs
    /// (from its submission until its `fetched` or `failed` was polled) nobody but the engine may access the bytes of its
    /// target, and targets of attempts of different ids that run at one time must not overlap.
    pub unsafe fn register(&self, ptr: *mut u8, len: usize, keep: Box<dyn Any + Send>) -> RegionId {
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { self.shared.regions.add(ptr, len, keep) }
    }

    /// Hands over work. Each GET ends in one [`crate::FETCHED`] or [`crate::FAILED`]; a record that cannot be done ends so at
    /// once, and so does all that is a thread's which has panicked. All attempts of a request are the same thread's.
    pub fn submit(&self, records: &[Submission]) {
        let begun = records
            .iter()
            .filter(|record| record.kind == GET)
            .map(|record| record.id);
        self.shared.forget_failures(begun);
        let signing = self.shared.signing();
        for (index, thread) in self.threads.iter().enumerate() {
            let its = records
                .iter()
                .filter(|record| record.id as usize % self.threads.len() == index);
            let jobs = its.map(|&record| Job {
                record,
                signing: signing.clone(),
            });
            thread.worker.hand_over(jobs);
        }
    }

    /// Moves completions into `out`, oldest first; how many.
    pub fn poll(&self, out: &mut [Completion]) -> usize {
        self.shared.completions.poll(out)
    }

    /// Asks for one wake-up when completions wait; true where some wait already, and then no wake-up comes.
    pub fn arm(&self) -> bool {
        self.shared.completions.arm()
    }

    /// Why the last failed attempt of the request failed; kept until the request's id is submitted again.
    pub fn failure(&self, id: u32) -> Option<Failure> {
        self.shared.failure(id)
    }

    /// The credentials of GETs that are submitted from now on; `None`: they are not signed. Returns the number by which
    /// [`Failure::credentials`] names them; 0 for `None`.
    pub fn set_credentials(&self, credentials: Option<Credentials>) -> u64 {
        self.shared.set_credentials(credentials)
    }

    /// What the user should know, once each, that is no failure; what was not taken yet.
    pub fn notices(&self) -> Vec<String> {
        self.shared.take_notices()
    }

    /// Bodies that came whole: with a checksum that was compared, and without.
    pub fn checksums(&self) -> (u64, u64) {
        (
            self.shared.checked.load(Ordering::Relaxed),
            self.shared.unchecked.load(Ordering::Relaxed),
        )
    }

    /// Sockets that are open or being opened.
    pub fn sockets(&self) -> usize {
        self.shared.dialer.sockets()
    }

    /// Ends all attempts and sockets and waits for the threads. No completion, no wake-up and no write to a region follows.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.completions.close();
        for thread in &self.threads {
            thread.worker.close();
        }
        for thread in &mut self.threads {
            thread.join();
        }
        self.shared.regions.clear();
    }
}

fn check(options: &EngineOptions) -> Result<(), StartError> {
    let wrong = |name, why: &str| Err(StartError::Option(name, why.to_owned()));
    let limits = &options.limits;
    if options.threads == 0 || options.threads > 1024 {
        return wrong("threads", "it is not from 1 to 1024");
    }
    if options.max_connections == 0 || options.max_connections > MOST_CONNECTIONS {
        return wrong("max_connections", "it is not from 1 to 1000000");
    }
    let total = limits.total.unwrap_or(std::time::Duration::MAX);
    if [limits.connect, limits.first_byte, limits.idle, total]
        .iter()
        .any(std::time::Duration::is_zero)
    {
        return wrong("limits", "one of them is 0");
    }
    Ok(())
}

const MOST_CONNECTIONS: usize = 1_000_000;
