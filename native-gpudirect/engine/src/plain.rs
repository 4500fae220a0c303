//! Reads of a plain TCP socket.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::net::TcpStream;

/// Reads into `first`, and what comes behind into `rest`, with one system call; 0 at the end of the stream.
///
/// A read that could have taken more has emptied the socket, and tokio is told so: the next read then waits for an event
/// instead of asking in vain, and whether more has come than was wanted is known without another call.
pub(crate) fn read_both(
    tcp: &TcpStream,
    cx: &mut Context<'_>,
    first: &mut [MaybeUninit<u8>],
    rest: &mut [MaybeUninit<u8>],
) -> Poll<io::Result<usize>> {
    loop {
        ready!(tcp.poll_read_ready(cx))?;
        let mut count = 0;
        let read = tcp.try_io(Interest::READABLE, || {
            count = read_vectored(tcp, first, rest)?;
            let emptied = 0 < count && count < first.len() + rest.len();
            if emptied {
                Err(io::ErrorKind::WouldBlock.into())
            } else {
                Ok(())
            }
        });
        match read {
            Ok(()) => return Poll::Ready(Ok(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if count > 0 {
                    return Poll::Ready(Ok(count));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

fn read_vectored(
    tcp: &TcpStream,
    first: &mut [MaybeUninit<u8>],
    rest: &mut [MaybeUninit<u8>],
) -> io::Result<usize> {
    let part = |bytes: &mut [MaybeUninit<u8>]| libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let fd = tcp.as_raw_fd();
    let count = if first.is_empty() {
        // SAFETY: `rest` is memory for as many bytes, borrowed for the call; the socket is open.
        unsafe { libc::recv(fd, rest.as_mut_ptr().cast(), rest.len(), 0) }
    } else {
        let parts = [part(first), part(rest)];
        // SAFETY: both parts are memory for as many bytes, borrowed for the call; the socket is open.
        unsafe { libc::readv(fd, parts.as_ptr(), 2) }
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}
