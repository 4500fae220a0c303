//! Completed puts on their way to [`os2g_transfer::Backend::poll`], and descriptors that wake a sleeper.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use os2g_transfer::{Error, PutDone, Result};

/// Locks, also after a panic elsewhere: what is guarded here is whole between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An eventfd.
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    /// Not signalled.
    ///
    /// # Errors
    /// `System`.
    pub fn new() -> Result<Self> {
        // SAFETY: plain numbers; the result is checked.
        let raw = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if raw < 0 {
            return Err(Error::system(
                "eventfd",
                "Making a wake-up descriptor",
                "Raise the limit on open files.",
            ));
        }
        // SAFETY: a new descriptor that nothing else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(raw) }))
    }

    /// Makes it readable.
    pub fn signal(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: a valid descriptor and 8 bytes. The only failure is a full counter, which is readable too.
        unsafe { libc::write(self.raw(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes it not readable.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: a valid descriptor and 8 bytes. The only failure is that it was not readable.
        unsafe { libc::read(self.raw(), count.as_mut_ptr().cast(), count.len()) };
    }

    /// To poll it.
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// To poll it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The queue. The descriptor is readable while it is not empty.
#[derive(Debug)]
pub struct Completions {
    queue: Mutex<VecDeque<PutDone>>,
    wake: EventFd,
}

impl Completions {
    /// Empty.
    ///
    /// # Errors
    /// `System`.
    pub fn new() -> Result<Self> {
        Ok(Self {
            queue: Mutex::default(),
            wake: EventFd::new()?,
        })
    }

    /// Adds puts that ended.
    pub fn extend(&self, done: impl IntoIterator<Item = PutDone>) {
        let mut queue = lock(&self.queue);
        let was_empty = queue.is_empty();
        queue.extend(done);
        if was_empty && !queue.is_empty() {
            self.wake.signal();
        }
    }

    /// Takes as many as fit.
    pub fn take(&self, done: &mut [PutDone]) -> usize {
        let mut queue = lock(&self.queue);
        let count = done.len().min(queue.len());
        for (place, ended) in done.iter_mut().zip(queue.drain(..count)) {
            *place = ended;
        }
        if count > 0 && queue.is_empty() {
            self.wake.clear();
        }
        count
    }

    /// Readable while something can be taken.
    pub fn wake(&self) -> BorrowedFd<'_> {
        self.wake.fd()
    }
}
