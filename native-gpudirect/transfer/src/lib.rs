//! Transfer back ends: how received bytes come into a trainer's landing memory.
//!
//! [`Backend`] is the one trait. `shm` receives in place into memory that both processes map, `cuda` copies from
//! pinned staging into GPU memory on the same machine; the UCX back end lives in a crate of its own and implements
//! the same trait. Memory crosses from process to process as a [`Description`], sent over a Unix socket together
//! with file descriptors ([`control`]).

pub mod backend;
pub mod control;
pub mod cuda;
pub mod error;
pub mod memory;
mod scm;
pub mod shm;

pub use backend::{Backend, Capabilities, Handle, Memory, Probe, Put, PutDone, Source};
pub use control::{Control, Description, Purpose};
pub use error::{Error, Kind, Result};
pub use memory::{Pages, Segment, SegmentOptions};
pub use shm::Shm;
