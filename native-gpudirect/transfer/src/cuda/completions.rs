//! Puts that have completed, handed from the waiting threads to whoever polls.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::backend::{Handle, PutDone};
use crate::error::{Error, Result};

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

/// The queue, and an eventfd that is readable while it is not empty.
pub(super) struct Completions {
    queue: Mutex<VecDeque<Ended>>,
    wake: OwnedFd,
}

impl Completions {
    pub fn new() -> Result<Self> {
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
        })
    }

    /// Ends `jobs` with `result`.
    pub fn finish(&self, jobs: impl IntoIterator<Item = Job>, result: &Result<()>) {
        let mut queue = self.queue();
        let before = queue.len();
        queue.extend(jobs.into_iter().map(|job| Ended {
            job,
            done: PutDone {
                tag: job.tag,
                result: result.clone(),
            },
        }));
        if before == 0 && !queue.is_empty() {
            let one = 1u64.to_ne_bytes();
            // SAFETY: writes 8 bytes from a live buffer. It can fail only when the counter is full, and then the
            // descriptor is readable already.
            unsafe { libc::write(self.wake.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        }
    }

    /// Takes at most `most`, in the order in which they ended.
    pub fn take(&self, most: usize, mut each: impl FnMut(Ended)) -> usize {
        let mut queue = self.queue();
        let count = most.min(queue.len());
        queue.drain(..count).for_each(&mut each);
        if count > 0 && queue.is_empty() {
            let mut counter = [0u8; 8];
            // SAFETY: reads 8 bytes into a live buffer; never blocks.
            unsafe { libc::read(self.wake.as_raw_fd(), counter.as_mut_ptr().cast(), counter.len()) };
        }
        count
    }

    pub fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Ended>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
