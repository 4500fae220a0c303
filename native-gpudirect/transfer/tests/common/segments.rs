//! Bytes in segments, and memfds with any seals.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};

use os2g_transfer::Segment;

pub fn memfd(bytes: u64, seals: i32) -> OwnedFd {
    // SAFETY: a NUL-terminated name; the result is checked.
    let raw =
        unsafe { libc::memfd_create(c"os2g-test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    assert!(raw >= 0);
    // SAFETY: new, and nothing else owns it.
    let file = unsafe { File::from_raw_fd(raw) };
    file.set_len(bytes).unwrap();
    // SAFETY: a valid descriptor and a number.
    assert_eq!(unsafe { libc::fcntl(raw, libc::F_ADD_SEALS, seals) }, 0);
    file.into()
}

pub fn write(segment: &Segment, at: usize, bytes: &[u8]) {
    assert!(at + bytes.len() <= segment.len());
    // SAFETY: inside the mapping; no other thread or process of the test writes there now.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), segment.pointer().add(at), bytes.len()) };
}

pub fn read(segment: &Segment, at: usize, length: usize) -> Vec<u8> {
    assert!(at + length <= segment.len());
    // SAFETY: inside the mapping; no other thread or process of the test writes there now.
    unsafe { std::slice::from_raw_parts(segment.pointer().add(at), length) }.to_vec()
}
