//! Errors as values: a kind for programs, and two sentences for people.

use std::fmt;

/// What went wrong, in a form that a program can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A shared library that the back end needs is not on this machine, or does not load.
    MissingLibrary,
    /// The library loaded, but lacks this symbol: too old, or something else under that name.
    MissingSymbol(&'static str),
    /// A call into a library answered with an error of its own.
    Driver {
        /// The library's number for it.
        code: i32,
        /// The library's name for it, such as `CUDA_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// The function that answered so.
        call: &'static str,
    },
    /// A system call failed.
    System {
        /// The error number (`errno`).
        errno: i32,
        /// The system call.
        call: &'static str,
    },
    /// A transfer would read or write outside a registered piece of memory.
    OutOfBounds,
    /// A handle that was never given out, or was unregistered.
    UnknownHandle,
    /// Memory or an event is still used by transfers that have not completed.
    InUse,
    /// The process at the other end is gone.
    PeerGone,
    /// What the other process sent is not what it says it is; nothing of it was used.
    Refused,
    /// The back end, device or machine cannot do this.
    Unsupported,
    /// An argument is outside its range.
    Invalid,
    /// Too many transfers are under way; complete some and try again.
    Full,
    /// A wait reached its limit.
    TimedOut,
    /// The back end was closed; transfers that were waiting then end with this too.
    Closed,
}

/// An error of a back end: its kind, what happened, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// For programs.
    pub kind: Kind,
    /// What happened and where, as a sentence.
    pub what: String,
    /// What to do, as a sentence.
    pub mend: String,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with its two sentences.
    pub fn new(kind: Kind, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            mend: mend.into(),
        }
    }

    /// The system call `call` has just failed in this thread; reads `errno`.
    pub fn system(call: &'static str, doing: &str, mend: impl Into<String>) -> Self {
        Self::from_io(&std::io::Error::last_os_error(), call, doing, mend)
    }

    /// The system call `call` failed with `error`.
    pub fn from_io(error: &std::io::Error, call: &'static str, doing: &str, mend: impl Into<String>) -> Self {
        let errno = error.raw_os_error().unwrap_or(0);
        Self::new(
            Kind::System { errno, call },
            format!("{doing} failed: {call}: {error}."),
            mend,
        )
    }

    /// A transfer that does not fit into `memory_length` bytes.
    pub fn out_of_bounds(what: &str, offset: u64, length: u64, memory_length: u64) -> Self {
        Self::new(
            Kind::OutOfBounds,
            format!(
                "{length} bytes at offset {offset} do not fit into the {what}, which has {memory_length} bytes."
            ),
            "Nothing was copied; this is a defect of the caller, please report it.",
        )
    }

    /// A handle that this back end does not know.
    pub fn unknown_handle(handle: u32) -> Self {
        Self::new(
            Kind::UnknownHandle,
            format!("No memory is registered under handle {handle}."),
            "Register the memory first; a handle ends with unregister.",
        )
    }

    /// The peer that holds the other end of `what` is gone.
    pub fn peer_gone(what: &str) -> Self {
        Self::new(
            Kind::PeerGone,
            format!("The process at the other end of the {what} is gone."),
            "Look at that process's own log for why it ended, then start it again.",
        )
    }

    /// The back end was closed.
    pub fn closed(name: &str) -> Self {
        Self::new(
            Kind::Closed,
            format!("The transfer back end `{name}` was closed."),
            "Open it again to transfer more.",
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.what, self.mend)
    }
}

impl std::error::Error for Error {}
