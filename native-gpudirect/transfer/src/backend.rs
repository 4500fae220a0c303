//! The trait of all back ends.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::control::Description;
use crate::error::{Error, Result};
use crate::memory::Segment;

/// What a back end can do, and what it claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// `shm`, `cuda`, `ucx`.
    pub name: &'static str,
    /// The host's CPU does not touch the bytes. Claimed only where that is known.
    pub direct: bool,
    /// The target's process runs nothing while bytes arrive.
    pub target_passive: bool,
    /// A receiver may write straight into the landing memory, so that `put` is the exception.
    pub in_place: bool,
    /// Offsets of puts are best a multiple of this many bytes (1: any).
    pub alignment: u64,
    /// The most bytes of one put.
    pub largest_message: u64,
    /// In words, why `direct` is what it is, and how the bytes travel.
    pub path: String,
}

/// Registered memory, as one back end knows it. Never reused while the back end lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// Memory that a back end may read from or put into.
#[derive(Debug)]
pub enum Memory {
    /// Memory mapped in this process: staging for every back end, and the landing memory itself for `shm`.
    Segment(Arc<Segment>),
    /// Landing memory of another process, as its owner described it over the control socket.
    Remote(Description),
}

/// Where a put reads from: registered memory of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// A handle of [`Memory::Segment`].
    pub handle: Handle,
    /// Bytes from its start.
    pub offset: u64,
}

/// One put: copy `length` bytes from `from` to `offset` in `handle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// The landing memory.
    pub handle: Handle,
    /// Bytes from its start.
    pub offset: u64,
    /// Must not change until the put has completed.
    pub from: Source,
    /// Bytes; 0 completes without touching memory.
    pub length: u64,
    /// Comes back in [`PutDone`]; the caller's own, not interpreted.
    pub tag: u64,
}

/// A put that has completed: its bytes are in the landing memory, or it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutDone {
    /// The put's tag.
    pub tag: u64,
    /// How it ended. After an error the landing range holds anything.
    pub result: Result<()>,
}

impl Default for PutDone {
    fn default() -> Self {
        Self {
            tag: 0,
            result: Ok(()),
        }
    }
}

/// One way into landing memory. Used by one thread at a time; each accepted put completes exactly once, through
/// [`Backend::poll`], also when it fails, its peer is lost or the back end is closed.
pub trait Backend: Send {
    /// What this back end can do here.
    fn capabilities(&self) -> &Capabilities;

    /// Makes memory known.
    ///
    /// # Errors
    /// What the library, the driver or the system says; `Refused` for a description that is not true;
    /// `Unsupported` for memory of another back end.
    fn register(&mut self, memory: Memory) -> Result<Handle>;

    /// Forgets memory and releases what [`Backend::register`] took.
    ///
    /// # Errors
    /// `UnknownHandle`; `InUse` while puts read from or write to it.
    fn unregister(&mut self, handle: Handle) -> Result<()>;

    /// Starts a put and returns at once. An error means that it was not started and will not complete.
    ///
    /// # Errors
    /// `UnknownHandle`, `OutOfBounds`, `PeerGone`, `Full`, `Closed`, or what the library says.
    fn put(&mut self, put: &Put) -> Result<()>;

    /// Takes completed puts, as many as fit, and returns how many. Never waits.
    fn poll(&mut self, done: &mut [PutDone]) -> usize;

    /// Puts accepted and not yet taken by [`Backend::poll`].
    fn waiting(&self) -> usize;

    /// A file descriptor that is readable while completions wait; [`Backend::poll`] clears it once none is left.
    /// `None` where puts complete before [`Backend::put`] returns.
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// The owner of this landing memory is gone (its control socket ended): puts that wait end with `PeerGone`
    /// once they can no longer touch memory, and new ones are refused with it.
    ///
    /// # Errors
    /// `UnknownHandle`.
    fn lose(&mut self, handle: Handle) -> Result<()>;

    /// Ends all: waits until no put touches memory any more, releases everything. Completions not taken yet can
    /// still be polled. Closing twice is fine.
    ///
    /// # Errors
    /// The first failure of the library or driver; what can be released is released all the same.
    fn close(&mut self) -> Result<()>;
}

/// What `os2g doctor` says of one back end on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// `shm`, `cuda`, `ucx`.
    pub name: &'static str,
    /// What it needs is installed.
    pub found: bool,
    /// Version of what was found.
    pub version: Option<String>,
    /// It was tried here, and works.
    pub works: bool,
    /// Why, as a sentence.
    pub why: String,
    /// What to do, as a sentence; empty where nothing need be done.
    pub mend: String,
    /// Details worth showing, such as the devices.
    pub details: Vec<String>,
}

impl Probe {
    /// A probe that ended in an error.
    pub fn failed(name: &'static str, found: bool, version: Option<String>, error: &Error) -> Self {
        Self {
            name,
            found,
            version,
            works: false,
            why: error.what.clone(),
            mend: error.mend.clone(),
            details: Vec::new(),
        }
    }
}

/// Checks that `length` bytes at `offset` lie inside memory of `memory_length` bytes.
///
/// # Errors
/// `OutOfBounds`, also where offset and length overflow.
pub fn check_range(what: &str, offset: u64, length: u64, memory_length: u64) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= memory_length => Ok(()),
        _ => Err(Error::out_of_bounds(what, offset, length, memory_length)),
    }
}
