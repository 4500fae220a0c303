//! File descriptors over a Unix stream socket (`SCM_RIGHTS`, unix(7)).

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// The most descriptors in one message.
pub const MOST_FDS: usize = 8;

/// Room for one control message with [`MOST_FDS`] descriptors, aligned as `cmsghdr` must be.
#[repr(C)]
struct ControlRoom {
    _align: [libc::cmsghdr; 0],
    bytes: [u8; 64],
}

impl ControlRoom {
    fn new() -> Self {
        Self {
            _align: [],
            bytes: [0; 64],
        }
    }
}

fn payload_bytes(fds: usize) -> u32 {
    (fds * size_of::<RawFd>()) as u32
}

/// Sends `bytes`, with `fds` attached to the first of them. May send fewer bytes; the descriptors are sent then.
pub fn send(stream: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    if fds.len() > MOST_FDS {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut room = ControlRoom::new();
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all zeroes is a valid msghdr: null pointers with lengths of 0.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !fds.is_empty() {
        message.msg_control = room.bytes.as_mut_ptr().cast();
        // SAFETY: plain arithmetic.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(payload_bytes(fds.len())) } as _;
        // SAFETY: the control buffer is aligned, zeroed and, by the check above, large enough for one header with
        // these descriptors, so CMSG_FIRSTHDR is not null and CMSG_DATA has room for them.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(payload_bytes(fds.len())) as _;
            let data = libc::CMSG_DATA(header).cast::<RawFd>();
            for (index, fd) in fds.iter().enumerate() {
                data.add(index).write_unaligned(fd.as_raw_fd());
            }
        }
    }
    loop {
        // SAFETY: the message points to live buffers with their true lengths; `sendmsg` writes to none of them.
        let sent = unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
        if sent >= 0 {
            return Ok(sent as usize);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Receives into `bytes` and appends descriptors to `fds`; 0 is the end of the stream. All received descriptors are
/// owned (and closed on exec), whatever comes of the message.
pub fn receive(stream: &UnixStream, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut room = ControlRoom::new();
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all zeroes is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = room.bytes.as_mut_ptr().cast();
    // SAFETY: plain arithmetic; at most the room's 64 bytes.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(payload_bytes(MOST_FDS)) } as _;
    let received = loop {
        // SAFETY: the message points to live, writable buffers with their true lengths.
        let received = unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        if received >= 0 {
            break received as usize;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    };
    // SAFETY: the kernel has just filled the message, and its buffers are alive.
    unsafe { take_fds(&message, fds) };
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    Ok(received)
}

/// # Safety
/// `message` was filled by `recvmsg`, its control buffer is alive, and its descriptors were not taken before.
unsafe fn take_fds(message: &libc::msghdr, fds: &mut Vec<OwnedFd>) {
    // SAFETY: by the caller's word the control buffer holds the kernel's well-formed headers; the macros stay
    // inside msg_controllen, each SCM_RIGHTS payload holds whole descriptors, and each is new and ours.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let length = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let data = libc::CMSG_DATA(header).cast::<RawFd>();
                for index in 0..length / size_of::<RawFd>() {
                    fds.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_holds_the_most_descriptors() {
        // SAFETY: plain arithmetic.
        let needed = unsafe { libc::CMSG_SPACE(payload_bytes(MOST_FDS)) } as usize;
        assert!(needed <= size_of::<ControlRoom>());
        assert_eq!(align_of::<ControlRoom>(), align_of::<libc::cmsghdr>());
    }
}
