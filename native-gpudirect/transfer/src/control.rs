//! Memory described over a Unix socket: a small fixed header, a few bytes of the back end's own, and descriptors.
//!
//! Header, 32 bytes, little-endian: `OS2Gmem1`, purpose (u32), descriptors (u32), length of the memory (u64), bytes
//! that follow (u32), 0 (u32). Nothing in it is believed before it was checked against what came with it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::error::{Error, Kind, Result};
use crate::memory::Segment;
use crate::scm;

const MAGIC: [u8; 8] = *b"OS2Gmem1";
const HEADER_BYTES: usize = 32;
/// The most bytes that a back end may add to a description (a UCX worker address and key take a few hundred).
pub const MOST_BYTES: usize = 16 << 10;

/// What a description is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// A sealed memfd: one descriptor.
    Segment = 1,
    /// CUDA memory made by `cuMemCreate`: one descriptor.
    CudaFd = 2,
    /// CUDA memory by its IPC handle: no descriptor.
    CudaIpc = 3,
    /// A CUDA interprocess event.
    CudaEvent = 4,
    /// Memory registered with UCX: a packed remote key and a worker address, no descriptor.
    Ucx = 5,
}

impl Purpose {
    fn from_number(number: u32) -> Option<Self> {
        [
            Self::Segment,
            Self::CudaFd,
            Self::CudaIpc,
            Self::CudaEvent,
            Self::Ucx,
        ]
        .into_iter()
        .find(|purpose| *purpose as u32 == number)
    }

    /// Descriptors that must come with it.
    fn fds(self) -> usize {
        match self {
            Self::Segment | Self::CudaFd => 1,
            Self::CudaIpc | Self::CudaEvent | Self::Ucx => 0,
        }
    }
}

/// Memory of one process, as it tells another of it.
#[derive(Debug)]
pub struct Description {
    /// What it is.
    pub purpose: Purpose,
    /// Bytes of the memory.
    pub length: u64,
    /// What the back end adds (keys, addresses); its own format, at most [`MOST_BYTES`].
    pub bytes: Vec<u8>,
    /// Descriptors that go with it.
    pub fds: Vec<OwnedFd>,
}

impl Description {
    /// Describes a segment; the descriptor is duplicated.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn of_segment(segment: &Segment) -> Result<Self> {
        let fd = segment.fd().try_clone_to_owned().map_err(|error| {
            Error::from_io(
                &error,
                "fcntl(F_DUPFD_CLOEXEC)",
                "Sharing memory",
                "Raise the limit of open files (ulimit -n).",
            )
        })?;
        Ok(Self {
            purpose: Purpose::Segment,
            length: segment.len() as u64,
            bytes: Vec::new(),
            fds: vec![fd],
        })
    }

    /// Maps the segment that this description is of.
    ///
    /// # Errors
    /// `Refused` where it is not of a segment, or is not true.
    pub fn into_segment(mut self) -> Result<Segment> {
        match (self.purpose, self.fds.pop()) {
            (Purpose::Segment, Some(fd)) => Segment::attach(fd, self.length),
            _ => Err(refused(
                "does not describe shared memory where shared memory was expected",
            )),
        }
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&(self.purpose as u32).to_le_bytes());
        header[12..16].copy_from_slice(&(self.fds.len() as u32).to_le_bytes());
        header[16..24].copy_from_slice(&self.length.to_le_bytes());
        header[24..28].copy_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        header
    }
}

/// One end of the control socket between the feeder and a trainer. Time limits are the socket's own
/// (`set_read_timeout`); a wait that reaches one is `TimedOut`.
#[derive(Debug)]
pub struct Control {
    stream: UnixStream,
}

impl Control {
    /// Takes over a connected socket.
    pub fn new(stream: UnixStream) -> Self {
        Self { stream }
    }

    /// The socket, to poll it or to set its time limits.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends a description; the receiver gets descriptors of its own.
    ///
    /// # Errors
    /// `PeerGone`, `TimedOut`, `Invalid` for too many bytes or a wrong number of descriptors.
    pub fn send(&mut self, description: &Description) -> Result<()> {
        if description.bytes.len() > MOST_BYTES || description.fds.len() != description.purpose.fds() {
            return Err(Error::new(
                Kind::Invalid,
                format!(
                    "A description ({:?}) with {} bytes and {} descriptors cannot be sent.",
                    description.purpose,
                    description.bytes.len(),
                    description.fds.len()
                ),
                "This is a defect of the caller, please report it.",
            ));
        }
        let mut message = description.header().to_vec();
        message.extend_from_slice(&description.bytes);
        let fds: Vec<BorrowedFd<'_>> = description.fds.iter().map(AsFd::as_fd).collect();
        let sent =
            scm::send(&self.stream, &message, &fds).map_err(|error| socket_error(&error, "sendmsg"))?;
        self.stream
            .write_all(&message[sent..])
            .map_err(|error| socket_error(&error, "write"))
    }

    /// Receives the next description.
    ///
    /// # Errors
    /// `PeerGone` at the end of the stream, `TimedOut`, `Refused` for anything that is not a description. After
    /// an error the socket is of no further use.
    pub fn receive(&mut self) -> Result<Description> {
        let mut header = [0; HEADER_BYTES];
        let mut fds = Vec::new();
        let mut filled = 0;
        while filled < HEADER_BYTES {
            let received = scm::receive(&self.stream, &mut header[filled..], &mut fds)
                .map_err(|error| socket_error(&error, "recvmsg"))?;
            if received == 0 {
                return Err(Error::peer_gone("control socket"));
            }
            filled += received;
        }
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let length = u64::from(word(16)) | u64::from(word(20)) << 32;
        let extra = word(24) as usize;
        let Some(purpose) = Purpose::from_number(word(8)).filter(|_| header[..8] == MAGIC && word(28) == 0)
        else {
            return Err(refused("is not a description of memory"));
        };
        if fds.len() != word(12) as usize || fds.len() != purpose.fds() {
            return Err(refused(&format!(
                "says {} descriptors, came with {} and needs {}",
                word(12),
                fds.len(),
                purpose.fds()
            )));
        }
        if extra > MOST_BYTES {
            return Err(refused(&format!(
                "says {extra} bytes follow, more than {MOST_BYTES}"
            )));
        }
        let mut bytes = vec![0; extra];
        self.stream
            .read_exact(&mut bytes)
            .map_err(|error| socket_error(&error, "read"))?;
        Ok(Description {
            purpose,
            length,
            bytes,
            fds,
        })
    }

    /// Whether the other end is closed or its process gone. Never waits.
    pub fn is_peer_gone(&self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.stream.as_raw_fd(),
            events: libc::POLLRDHUP,
            revents: 0,
        };
        // SAFETY: one pollfd, alive for the call; a limit of 0 never waits.
        let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
        ready > 0 && poll.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0
    }
}

fn socket_error(error: &io::Error, call: &'static str) -> Error {
    match error.raw_os_error() {
        Some(libc::EPIPE | libc::ECONNRESET) => Error::peer_gone("control socket"),
        Some(libc::EAGAIN) => Error::new(
            Kind::TimedOut,
            "The process at the other end of the control socket did not answer within the limit.",
            "See whether that process is stopped or overloaded.",
        ),
        Some(libc::EMSGSIZE) => refused("came with more descriptors than any description has"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => Error::peer_gone("control socket"),
        _ => Error::from_io(
            error,
            call,
            "Talking over the control socket",
            "See that both ends run and may use the socket.",
        ),
    }
}

fn refused(why: &str) -> Error {
    Error::new(
        Kind::Refused,
        format!("A message on the control socket {why}; it was not used."),
        "Run the same version of OS2G at both ends.",
    )
}
