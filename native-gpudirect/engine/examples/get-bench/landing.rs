//! Memory to receive into: shared, as the memory that a feed lands in.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// More than the head of an answer, which the plain loop receives with its body.
const HEAD_BYTES: usize = 4096;

/// Slots that are used in turn, so that all of the memory is, as in a feed, and not a few slots that stay in a cache.
pub struct Landing {
    pub memory: Arc<Memory>,
    pub slot_bytes: usize,
    free: VecDeque<usize>,
}

impl Landing {
    /// Slots for `in_flight` bodies of `bytes`, and as many more as `landing_bytes` has room for.
    pub fn new(in_flight: usize, bytes: usize, landing_bytes: usize) -> io::Result<Landing> {
        let slot_bytes = (bytes + HEAD_BYTES).next_multiple_of(4096);
        let slots = in_flight.max(landing_bytes / slot_bytes);
        Ok(Landing {
            memory: Arc::new(Memory::new(slots * slot_bytes)?),
            slot_bytes,
            free: (0..slots).collect(),
        })
    }

    pub fn slots(&self) -> usize {
        self.memory.bytes / self.slot_bytes
    }

    /// The slot that has been free for longest; there are as many as requests in flight, at least.
    pub fn take(&mut self) -> usize {
        self.free.pop_front().unwrap_or_default()
    }

    pub fn give_back(&mut self, slot: usize) {
        self.free.push_back(slot);
    }

    pub fn at(&self, slot: usize) -> *mut u8 {
        // SAFETY: slots lie inside the memory.
        unsafe { self.memory.start.add(slot * self.slot_bytes) }
    }

    /// # Safety
    /// Nothing writes to the slot while the slice is alive.
    pub unsafe fn bytes(&self, slot: usize, from: usize, length: usize) -> &[u8] {
        assert!(from + length <= self.slot_bytes);
        // SAFETY: inside the slot; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at(slot).add(from), length) }
    }
}

pub struct Memory {
    pub start: *mut u8,
    pub bytes: usize,
}

// SAFETY: each slot is used by one request at a time.
unsafe impl Sync for Memory {}
// SAFETY: plain bytes.
unsafe impl Send for Memory {}

impl Memory {
    fn new(bytes: usize) -> io::Result<Memory> {
        // SAFETY: the name ends in NUL.
        let fd = unsafe { libc::memfd_create(c"get-bench".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nothing else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: an open descriptor.
        if unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, fd.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Memory {
            start: start.cast(),
            bytes,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: our mapping, used by nobody any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
