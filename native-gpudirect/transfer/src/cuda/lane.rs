//! One GPU's queue of puts, and a thread that sleeps until they are done.
//!
//! The thread takes all puts that were started since it last looked and records one event for them, so the number
//! of events and wake-ups falls as the load grows.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::abi::CuDevicePointer;
use super::completions::{Completions, Job};
use super::device::Device;
use super::event::{SharedEvent, Stream};
use crate::error::{Error, Kind, Result};

#[derive(Default)]
struct State {
    /// Started, not yet covered by an event.
    queued: Vec<Job>,
    /// Covered by the event that the thread waits for.
    running: Vec<Job>,
    stop: bool,
    ended: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stream: Stream,
    event: SharedEvent,
    completions: Arc<Completions>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Lane {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Lane {
    pub fn start(device: &Arc<Device>, completions: &Arc<Completions>) -> Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            stream: Stream::create(device)?,
            event: SharedEvent::local(device)?,
            completions: completions.clone(),
        });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name(format!("os2g-cuda-{}", device.ordinal()))
            .spawn(move || run(&theirs))
            .map_err(|error| {
                Error::from_io(
                    &error,
                    "clone",
                    "Starting a thread",
                    "Raise the limit of threads.",
                )
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    pub fn stream(&self) -> &Stream {
        &self.shared.stream
    }

    /// # Safety
    /// Both ranges are valid, and stay so until the job has ended.
    pub unsafe fn put(&self, job: Job, to: CuDevicePointer, from: *const u8, bytes: usize) -> Result<()> {
        // Copied under the lock: once the thread has seen the job, its copy is in the stream.
        let mut state = self.shared.state();
        // SAFETY: passed on to the caller.
        unsafe { self.shared.stream.copy_to_device(to, from, bytes) }?;
        state.queued.push(job);
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits for the puts under way, at most until `deadline`, and ends the thread.
    ///
    /// # Errors
    /// `TimedOut`: the GPU may still read and write, so the memory must stay. The puts have ended with this error.
    pub fn stop(&mut self, deadline: Instant) -> Result<()> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let mut state = self.shared.state();
        state.stop = true;
        self.shared.changed.notify_all();
        while !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                let error = Error::new(
                    Kind::TimedOut,
                    "Copies to a GPU did not end within the limit for closing; their memory stays in use.",
                    "See nvidia-smi and dmesg for the GPU's state, and whether the trainer still runs; restart this process.",
                );
                let jobs: Vec<Job> = std::mem::take(&mut state.running)
                    .into_iter()
                    .chain(state.queued.drain(..))
                    .collect();
                self.shared.completions.finish(jobs, &Err(error.clone()));
                return Err(error);
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(state);
        // It has no more to do than to return; a panic in it would have been reported by the hook.
        let _ = thread.join();
        Ok(())
    }
}

fn run(shared: &Shared) {
    loop {
        let mut state = shared.state();
        while state.queued.is_empty() && !state.stop {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.queued.is_empty() {
            state.ended = true;
            shared.changed.notify_all();
            return;
        }
        state.running = std::mem::take(&mut state.queued);
        drop(state);
        let waited = shared
            .event
            .record(&shared.stream)
            .and_then(|()| shared.event.synchronize());
        if waited.is_err() {
            // The event says nothing now. The puts may end only once no copy can touch memory any more; where this
            // fails too, the context is broken and runs nothing.
            let _ = shared.stream.synchronize();
        }
        let jobs = std::mem::take(&mut shared.state().running);
        shared.completions.finish(jobs, &waited);
    }
}
