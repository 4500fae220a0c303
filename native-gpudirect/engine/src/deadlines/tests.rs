//! Limits in skipped time: whose silence it was.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use os2g_wire::{Class, RequestWriter};
use tokio::task::yield_now;

use super::stop_overdue;
use crate::clock::skipped::skip;
use crate::completions::Completions;
use crate::dial::Dialer;
use crate::records::{Completion, FAILED};
use crate::shared::Shared;
use crate::testing::{OneObject, SIZE, accept_request, begun_answer, get, options_for, until};
use crate::worker::{Job, Worker};

const LIMIT: Duration = Duration::from_secs(5);

/// A worker that runs on the test's own thread, whose clock the test has, and one request of it to a store.
struct Stalled {
    worker: Arc<Worker>,
    store: TcpStream,
}

impl Stalled {
    /// Until the request has come to the store.
    async fn begin() -> Stalled {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut options = options_for(listener.local_addr().unwrap());
        (options.limits.first_byte, options.limits.idle) = (LIMIT, LIMIT);
        let dialer = Dialer::new(&options).unwrap();
        let completions = Completions::new(Box::new(|| {}));
        let shared = Arc::new(Shared::new(options, Arc::new(OneObject), completions, dialer));
        let mut memory = vec![0_u8; SIZE];
        // SAFETY: the memory goes with the registration, and nobody else uses it.
        unsafe { shared.regions.add(memory.as_mut_ptr(), SIZE, Box::new(memory)) };
        let writer = RequestWriter::new(shared.target()).unwrap();
        let worker = Arc::new(Worker::new(shared, 0, writer));
        tokio::spawn(Arc::clone(&worker).run());
        let (record, signing) = (get(0), None);
        worker.hand_over([Job { record, signing }].into_iter());
        let (sender, accepted) = channel();
        std::thread::spawn(move || sender.send(accept_request(&listener)));
        let store = come(&accepted).await;
        Stalled { worker, store }
    }

    /// What the store sends, as far as the kernel of the other side: the engine's thread is not there to read it.
    fn send(&mut self, bytes: &[u8]) {
        self.store.write_all(bytes).unwrap();
        until("the kernel has all", || {
            let mut unacknowledged = 0;
            // SAFETY: the socket is open, and the call writes one int.
            let told = unsafe { libc::ioctl(self.store.as_raw_fd(), libc::TIOCOUTQ, &mut unacknowledged) };
            told == 0 && unacknowledged == 0
        });
    }

    /// A look of the one who watches the limits, in a task of its own as in the engine.
    async fn look(&self) {
        let worker = Arc::clone(&self.worker);
        let look = tokio::spawn(async move {
            let limits = worker.shared.options.limits;
            stop_overdue(&worker, &limits).await;
        });
        look.await.unwrap();
        yield_now().await;
    }

    /// Bytes in the target; `None` where the attempt has ended.
    fn bytes(&self) -> Option<u64> {
        let running = self.worker.running.lock().unwrap();
        running.values().next().map(|one| one.progress.bytes())
    }

    async fn until_bytes(&self, bytes: u64) {
        while self.bytes() != Some(bytes) {
            assert!(self.bytes().is_some(), "the attempt has ended");
            yield_now().await;
        }
    }

    fn ended_in(&self) -> Option<Class> {
        let mut records = [Completion::default(); 4];
        let count = self.worker.shared.completions.poll(&mut records);
        let failed = records[..count].iter().find(|record| record.kind == FAILED)?;
        Class::ALL.into_iter().find(|class| *class as u32 == failed.class)
    }
}

async fn come<T>(channel: &Receiver<T>) -> T {
    loop {
        match channel.try_recv() {
            Ok(value) => return value,
            Err(_) => yield_now().await,
        }
    }
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
}

#[test]
fn bytes_that_came_while_the_thread_stood_still_are_no_silence_of_the_stores() {
    block_on(async {
        let mut stalled = Stalled::begin().await;
        stalled.send(&begun_answer(1000));
        skip(2 * LIMIT);
        stalled.look().await;
        assert_eq!(
            (stalled.bytes(), stalled.ended_in()),
            (Some(1000), None),
            "the head"
        );

        stalled.send(&[7; 500]);
        skip(2 * LIMIT);
        stalled.look().await;
        assert_eq!(
            (stalled.bytes(), stalled.ended_in()),
            (Some(1500), None),
            "the body"
        );
    });
}

#[test]
fn where_nothing_came_it_is_the_stores_silence() {
    block_on(async {
        let stalled = Stalled::begin().await;
        skip(2 * LIMIT);
        stalled.look().await;
        assert_eq!(stalled.ended_in(), Some(Class::TimeoutFirstByte));

        let mut stalled = Stalled::begin().await;
        stalled.send(&begun_answer(1000));
        stalled.until_bytes(1000).await;
        skip(LIMIT);
        stalled.look().await;
        assert_eq!(
            (stalled.bytes(), stalled.ended_in()),
            (None, Some(Class::TimeoutIdle))
        );
    });
}

#[test]
fn a_slow_but_moving_body_outlives_the_idle_limit() {
    block_on(async {
        let mut stalled = Stalled::begin().await;
        stalled.send(&begun_answer(0));
        for pieces in 1..=20 {
            stalled.send(&[7; 100]);
            stalled.until_bytes(pieces * 100).await;
            skip(LIMIT - Duration::from_secs(1));
            stalled.look().await;
            assert_eq!(stalled.ended_in(), None, "after piece {pieces}");
        }
    });
}

#[test]
fn what_ends_an_attempt_first_is_why_it_ended() {
    block_on(async {
        let stalled = Stalled::begin().await;
        stalled.worker.stop(0, 1, Class::Cancelled);
        stalled.worker.stop(0, 1, Class::TimeoutIdle);
        yield_now().await;
        assert_eq!(
            (stalled.bytes(), stalled.ended_in()),
            (None, Some(Class::Cancelled))
        );
    });
}
