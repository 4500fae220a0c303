//! The control socket: whole messages over a connected stream socket, Unix or TCP alike.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use os2g_transfer::{Error, Kind, Result};

use crate::frame::{Frame, HEADER_BYTES, PAYLOAD_BYTES_MAX};

/// Bytes that may wait for a peer that does not read.
const UNSENT_BYTES_MAX: usize = 4 << 20;
const AGAIN: &str = "Start the transfer again.";

/// One end.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    unsent: Vec<u8>,
}

impl Socket {
    /// Takes over a connected stream socket.
    pub fn new(fd: OwnedFd) -> Self {
        Self {
            fd,
            unsent: Vec::new(),
        }
    }

    /// To poll it.
    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Sends a message, waiting as long as it takes.
    ///
    /// # Errors
    /// `PeerGone`, `System`.
    pub fn send(&self, frame: &Frame) -> Result<()> {
        let bytes = frame.encode();
        let mut sent = 0;
        while sent < bytes.len() {
            match self.send_some(&bytes[sent..], 0) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(failed(&error, "send")),
            }
        }
        Ok(())
    }

    /// Sends a message as far as the socket takes it now; the rest goes with [`Socket::send_rest`].
    ///
    /// # Errors
    /// As [`Socket::send_rest`].
    pub fn queue(&mut self, frame: &Frame) -> Result<()> {
        self.unsent.extend(frame.encode());
        self.send_rest()
    }

    /// Sends what is left as far as the socket takes it now.
    ///
    /// # Errors
    /// `PeerGone`, `System`, and `TimedOut` where the peer has left 4 MiB unread.
    pub fn send_rest(&mut self) -> Result<()> {
        let mut sent = 0;
        while sent < self.unsent.len() {
            match self.send_some(&self.unsent[sent..], libc::MSG_DONTWAIT) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(failed(&error, "send")),
            }
        }
        self.unsent.drain(..sent);
        if self.unsent.len() > UNSENT_BYTES_MAX {
            return Err(Error::new(
                Kind::TimedOut,
                "The target does not read its control socket; too many completions wait for it.",
                "Look at the target's process: it must read completions while puts run.",
            ));
        }
        Ok(())
    }

    /// Whether something is left to send.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Reads one message, sleeping in `read` as long as it takes. `None` is the end of the stream.
    ///
    /// # Errors
    /// `PeerGone` for an end inside a message, `Refused`, `System`.
    pub fn receive(&self) -> Result<Option<Frame>> {
        let mut header = [0; HEADER_BYTES];
        if !self.read_all(&mut header, true)? {
            return Ok(None);
        }
        let (kind, length) = Frame::header(header)?;
        debug_assert!(length <= PAYLOAD_BYTES_MAX);
        let mut payload = vec![0; length];
        self.read_all(&mut payload, false)?;
        Frame::decode(kind, &payload).map(Some)
    }

    /// As [`Socket::receive`], but gives up at `limit`. A peer that sends single bytes cannot stretch it.
    ///
    /// # Errors
    /// `TimedOut` too.
    pub fn receive_within(&self, limit: Duration, what: &str) -> Result<Option<Frame>> {
        let deadline = Instant::now() + limit;
        let wait = |flags: &mut [u8]| self.read_until(flags, deadline, what);
        let mut header = [0; HEADER_BYTES];
        if !wait(&mut header)? {
            return Ok(None);
        }
        let (kind, length) = Frame::header(header)?;
        let mut payload = vec![0; length];
        if !wait(&mut payload)? && length > 0 {
            return Err(Error::peer_gone("control socket"));
        }
        Frame::decode(kind, &payload).map(Some)
    }

    /// Whether the peer has closed its end, without waiting and without reading anything.
    pub fn has_ended(&self) -> bool {
        let mut byte = 0u8;
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        // SAFETY: a valid descriptor and a buffer of the length that is told.
        let count = unsafe { libc::recv(self.raw(), (&raw mut byte).cast(), 1, flags) };
        count == 0 || (count < 0 && !io::Error::last_os_error().kind().eq(&io::ErrorKind::WouldBlock))
    }

    fn read_until(&self, buffer: &mut [u8], deadline: Instant, what: &str) -> Result<bool> {
        let mut filled = 0;
        while filled < buffer.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(
                    Kind::TimedOut,
                    format!("The other process did not send {what} in time."),
                    "Look at that process: it may be stopped or overloaded.",
                ));
            }
            wait_readable(self.raw(), left);
            match self.receive_some(&mut buffer[filled..], libc::MSG_DONTWAIT) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(Error::peer_gone("control socket")),
                Ok(count) => filled += count,
                Err(error) if retry(&error) => (),
                Err(error) => return Err(failed(&error, "recv")),
            }
        }
        Ok(true)
    }

    /// False at the end of the stream before the first byte, where that `may_end`.
    fn read_all(&self, buffer: &mut [u8], may_end: bool) -> Result<bool> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.receive_some(&mut buffer[filled..], 0) {
                Ok(0) if filled == 0 && may_end => return Ok(false),
                Ok(0) => return Err(Error::peer_gone("control socket")),
                Ok(count) => filled += count,
                Err(error) if retry(&error) => (),
                Err(error) => return Err(failed(&error, "recv")),
            }
        }
        Ok(true)
    }

    fn send_some(&self, bytes: &[u8], flags: libc::c_int) -> io::Result<usize> {
        // SAFETY: a valid descriptor and a buffer of the length that is told. NOSIGNAL: an end of the peer is an
        // error value, not a signal.
        let count = unsafe {
            libc::send(
                self.raw(),
                bytes.as_ptr().cast(),
                bytes.len(),
                flags | libc::MSG_NOSIGNAL,
            )
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    fn receive_some(&self, buffer: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
        // SAFETY: a valid descriptor and a buffer of the length that is told.
        let count = unsafe { libc::recv(self.raw(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}

fn retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

fn wait_readable(fd: RawFd, limit: Duration) {
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let milliseconds = i32::try_from(limit.as_millis().max(1)).unwrap_or(i32::MAX);
    // SAFETY: one valid entry. The caller reads without waiting and comes back, whatever the answer is.
    unsafe { libc::poll(&mut entry, 1, milliseconds) };
}

fn failed(error: &io::Error, call: &'static str) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Error::peer_gone("control socket"),
        _ => Error::from_io(error, call, "The control socket", AGAIN),
    }
}
