use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use os2g_wire::Class;

use crate::clock::monotonic_ns;
use crate::failure::Failure;
use crate::options::Limits;
use crate::records::{Completion, FAILED, FETCHED, FIRST_BYTE};
use crate::worker::Worker;

/// How far an attempt is: one limit each.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Phase {
    Connecting = 0,
    /// The request is written.
    Sent = 1,
    /// The answer's head has come.
    Body = 2,
}

/// What the limits need to know of a running attempt, and why it is ended from outside.
pub(crate) struct Progress {
    phase: AtomicU8,
    start_ns: AtomicU64,
    /// Since when the present limit counts.
    since_ns: AtomicU64,
    /// Bytes in the target.
    bytes: AtomicU64,
    /// The class to end it with, where it was told to end; 0: it was not.
    stopped_by: AtomicU8,
}

impl Progress {
    pub fn new() -> Progress {
        let now = monotonic_ns();
        Progress {
            phase: AtomicU8::new(Phase::Connecting as u8),
            start_ns: AtomicU64::new(now),
            since_ns: AtomicU64::new(now),
            bytes: AtomicU64::new(0),
            stopped_by: AtomicU8::new(0),
        }
    }

    /// The same once more from the start.
    pub fn restart(&self) {
        self.start_ns.store(monotonic_ns(), Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.enter(Phase::Connecting);
    }

    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since_ns.store(monotonic_ns(), Ordering::Relaxed);
    }

    /// The body has moved; so many bytes are in the target.
    pub fn moved(&self, bytes: usize) {
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.since_ns.store(monotonic_ns(), Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The first reason counts.
    pub fn stop(&self, class: Class) {
        let _ = self
            .stopped_by
            .compare_exchange(0, class as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The limit that has run out.
    pub fn overdue(&self, now_ns: u64, limits: &Limits) -> Option<Class> {
        let over = |since: &AtomicU64, limit: std::time::Duration| {
            u128::from(now_ns.saturating_sub(since.load(Ordering::Relaxed))) >= limit.as_nanos()
        };
        if limits.total.is_some_and(|total| over(&self.start_ns, total)) {
            return Some(Class::TimeoutTotal);
        }
        let phase = self.phase.load(Ordering::Relaxed);
        let (limit, class) = match phase {
            phase if phase == Phase::Connecting as u8 => (limits.connect, Class::TimeoutConnect),
            phase if phase == Phase::Sent as u8 => (limits.first_byte, Class::TimeoutFirstByte),
            _ => (limits.idle, Class::TimeoutIdle),
        };
        over(&self.since_ns, limit).then_some(class)
    }
}

/// An attempt that runs. It ends exactly once: by `succeed`, by `fail`, or, where its task is ended from outside, when it is
/// dropped; the task must drop it last.
pub(crate) struct Attempt {
    pub id: u32,
    pub attempt: u32,
    pub progress: Arc<Progress>,
    worker: Arc<Worker>,
    ended: bool,
}

impl Attempt {
    pub fn new(id: u32, attempt: u32, worker: Arc<Worker>) -> Attempt {
        Attempt {
            id,
            attempt,
            progress: Arc::new(Progress::new()),
            worker,
            ended: false,
        }
    }

    /// The answer is the one that was asked for; its first byte came then.
    pub fn first_byte(&self, time_ns: u64) {
        let Attempt { id, attempt, .. } = *self;
        let time_ns = time_ns as f64;
        self.worker.push(Completion {
            kind: FIRST_BYTE,
            id,
            attempt,
            time_ns,
            ..Completion::default()
        });
    }

    pub fn succeed(mut self) {
        self.leave();
        let Attempt { id, attempt, .. } = self;
        let (time_ns, bytes) = (monotonic_ns() as f64, self.progress.bytes() as f64);
        self.worker.push(Completion {
            kind: FETCHED,
            id,
            attempt,
            time_ns,
            bytes,
            ..Completion::default()
        });
    }

    pub fn fail(mut self, failure: Failure) {
        self.leave();
        self.worker
            .push_failure(self.id, self.attempt, failure, self.progress.bytes());
    }

    fn leave(&mut self) {
        self.ended = true;
        self.worker.left(self.id, self.attempt);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        self.leave();
        let bytes = self.progress.bytes();
        let stopped_by = self.progress.stopped_by.load(Ordering::Relaxed);
        let failure = match Class::ALL.into_iter().find(|class| *class as u8 == stopped_by) {
            Some(Class::Cancelled) => Failure::new(Class::Cancelled, "cancelled"),
            Some(limit) => Failure::new(
                limit,
                format!("{} ({bytes} bytes had come)", limit_meaning(limit)),
            ),
            None => Failure::new(Class::Internal, "the I/O thread of this request has ended"),
        };
        self.worker.push_failure(self.id, self.attempt, failure, bytes);
    }
}

/// What it means that a limit has run out.
fn limit_meaning(limit: Class) -> &'static str {
    match limit {
        Class::TimeoutConnect => "no connection within limits.connect",
        Class::TimeoutFirstByte => "no answer within limits.first_byte",
        Class::TimeoutIdle => "the body stood still for limits.idle",
        _ => "not done within limits.total",
    }
}

/// A failed completion.
pub(crate) fn failed(id: u32, attempt: u32, failure: &Failure, bytes: u64) -> Completion {
    Completion {
        kind: FAILED,
        class: u32::from(failure.class as u8),
        id,
        attempt,
        status: u32::from(failure.status),
        time_ns: monotonic_ns() as f64,
        bytes: bytes as f64,
        retry_after_ns: failure.retry_after_ns as f64,
        ..Completion::default()
    }
}
