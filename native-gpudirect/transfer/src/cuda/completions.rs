//! Puts that have completed, handed from the waiting threads to whoever polls.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::backend::{Handle, PutDone};
use crate::error::{Error, Result};

/// Called when completions wait and [`super::Cuda::arm`] has asked for it; from a waiting thread.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// A put on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub tag: u64,
    pub target: Handle,
    pub source: Handle,
}

/// A put that has ended.
pub(super) struct Ended {
    pub job: Job,
    pub done: PutDone,
}

#[derive(Default)]
struct Queue {
    ended: VecDeque<Ended>,
    /// A call of `call` is asked for.
    armed: bool,
}

/// The queue, an eventfd that is readable while it is not empty, and a call for who does not wait on descriptors.
pub(super) struct Completions {
    queue: Mutex<Queue>,
    wake: OwnedFd,
    call: Option<Wake>,
}

impl Completions {
    pub fn new(call: Option<Wake>) -> Result<Self> {
        // SAFETY: takes two numbers; the result is checked.
        let raw = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if raw < 0 {
            return Err(Error::system(
                "eventfd",
                "Opening a back end",
                "Raise the limit of open files (ulimit -n).",
            ));
        }
        // SAFETY: a new descriptor that nothing else owns.
        let wake = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self {
            queue: Mutex::default(),
            wake,
            call,
        })
    }

    /// Ends `jobs` with `result`.
    pub fn finish(&self, jobs: impl IntoIterator<Item = Job>, result: &Result<()>) {
        let mut queue = self.queue();
        let before = queue.ended.len();
        queue.ended.extend(jobs.into_iter().map(|job| Ended {
            job,
            done: PutDone {
                tag: job.tag,
                result: result.clone(),
            },
        }));
        if before == 0 && !queue.ended.is_empty() {
            let one = 1u64.to_ne_bytes();
            // SAFETY: writes 8 bytes from a live buffer. It can fail only when the counter is full, and then the
            // descriptor is readable already.
            unsafe { libc::write(self.wake.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        }
        let is_wanted = queue.armed && !queue.ended.is_empty();
        if is_wanted {
            queue.armed = false;
        }
        drop(queue);
        if is_wanted && let Some(call) = &self.call {
            call();
        }
    }

    /// Asks for one call; true where completions wait already, and then none comes.
    pub fn arm(&self) -> bool {
        let mut queue = self.queue();
        queue.armed = queue.ended.is_empty();
        !queue.armed
    }

    /// Takes at most `most`, in the order in which they ended.
    pub fn take(&self, most: usize, mut each: impl FnMut(Ended)) -> usize {
        let mut queue = self.queue();
        let count = most.min(queue.ended.len());
        queue.ended.drain(..count).for_each(&mut each);
        if count > 0 && queue.ended.is_empty() {
            let mut counter = [0u8; 8];
            // SAFETY: reads 8 bytes into a live buffer; never blocks.
            unsafe { libc::read(self.wake.as_raw_fd(), counter.as_mut_ptr().cast(), counter.len()) };
        }
        count
    }

    pub fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
