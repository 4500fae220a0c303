//! The GET engine: reads ranges of S3 objects over HTTP/1.1 straight into memory that its caller has registered.
//!
//! Work goes in and results come out as fixed records ([`Submission`], [`Completion`]), many with one call; what a request
//! needs beside them (keys, ETags, sizes) is borrowed from the caller's [`ObjectTable`]. One or more I/O threads do the work.
//! The engine never retries and never follows a redirect, and each attempt ends in exactly one completion of kind
//! [`FETCHED`] or [`FAILED`].

mod attempt;
mod body;
mod clock;
mod completions;
mod conn;
mod deadlines;
mod dial;
mod engine;
mod errno;
mod exchange;
mod failure;
mod failures;
mod get;
mod input;
mod io_thread;
mod options;
mod panics;
mod plain;
mod pool;
mod proxy;
mod records;
mod regions;
mod resolve;
mod shared;
mod sync;
mod table;
#[cfg(test)]
mod testing;
mod tls;
mod trusted_leaf;
mod tunnel;
mod worker;

pub use engine::Engine;
pub use failure::Failure;
pub use options::{EngineOptions, Limits, Proxy, StartError, Verify, WallClock, system_wall_ms};
pub use os2g_wire::{Class, Credentials};
pub use records::{CANCEL, Completion, FAILED, FETCHED, FIRST_BYTE, GET, Submission};
pub use regions::RegionId;
pub use table::ObjectTable;
