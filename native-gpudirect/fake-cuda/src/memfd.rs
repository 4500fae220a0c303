//! Memory in memfds: device memory and the state of interprocess events. Its name says what it is, and the kernel
//! keeps it with the memory, so that another process can check what it was given.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::code;

/// A mapped memfd; unmapped when dropped.
pub struct Mapped {
    fd: OwnedFd,
    pointer: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is this object's own until it drops; users copy bytes or use atomics in it.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// New, zeroed.
    pub fn create(name: &str, bytes: usize) -> Result<Self, i32> {
        let name = std::ffi::CString::new(name).map_err(|_| code::INVALID_VALUE)?;
        // SAFETY: a NUL-terminated name; the result is checked.
        let raw = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(code::OPERATING_SYSTEM);
        }
        // SAFETY: new, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(raw) };
        file.set_len(bytes as u64).map_err(|_| code::OUT_OF_MEMORY)?;
        Self::map(file.into(), bytes)
    }

    /// What another process (or this one) made under a name that starts with `name`; also the rest of the name.
    pub fn open(fd: OwnedFd, name: &str) -> Result<(Self, String), i32> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))
            .map_err(|_| code::INVALID_HANDLE)?;
        let rest = link
            .to_str()
            .and_then(|link| link.strip_prefix("/memfd:"))
            .and_then(|link| link.strip_suffix(" (deleted)"))
            .and_then(|link| link.strip_prefix(name))
            .ok_or(code::INVALID_HANDLE)?
            .to_owned();
        let file = File::from(fd);
        let bytes = file.metadata().map_err(|_| code::INVALID_HANDLE)?.len() as usize;
        Ok((Self::map(file.into(), bytes)?, rest))
    }

    fn map(fd: OwnedFd, bytes: usize) -> Result<Self, i32> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(address.cast::<u8>()) {
            Some(pointer) if address != libc::MAP_FAILED => Ok(Self { fd, pointer, bytes }),
            _ => Err(code::OUT_OF_MEMORY),
        }
    }

    pub fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping of `map`, once.
        unsafe { libc::munmap(self.pointer.as_ptr().cast(), self.bytes) };
    }
}

/// A descriptor of another process, by its number there.
pub fn of_process(pid: u32, fd: i32) -> Result<OwnedFd, i32> {
    File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/{pid}/fd/{fd}"))
        .map(OwnedFd::from)
        .map_err(|_| code::INVALID_HANDLE)
}
