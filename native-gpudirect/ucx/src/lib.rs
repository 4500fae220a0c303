//! The UCX transfer back end: one-sided puts into memory that another process registered, while that process sleeps.
//!
//! The two ends:
//! - [`Target`], in the trainer's process, registers landing memory, offers it over a control socket and sleeps in
//!   `recv` until [`Link::wait`] is told which puts are done;
//! - [`Ucx`], in the feeder's process, implements [`os2g_transfer::Backend`]: `ucp_put_nbx`, then one
//!   `ucp_ep_flush_nbx` for the puts so far, then the announcement. A put is *done* when its flush is.
//!
//! libucp (1.16 or newer) is found at run time (see [`Places`]); there is nothing to link. UCX chooses the
//! transport, and some of its choices need the target's process to run for each put (`tcp`; shared memory that UCX
//! did not allocate, without `cma`). Before a target is used, a check puts into its memory while it sleeps and reads
//! back which protocols UCX chose; such a choice is refused with the reason, then and later.

mod backend;
mod check;
mod completions;
mod connection;
mod context;
mod frame;
mod keeper;
mod library;
mod log;
mod mapping;
mod offer;
mod probe;
mod record;
mod report;
mod requests;
mod session;
mod settings;
mod socket;
mod status;
#[allow(missing_docs)] // the C header documents it
mod sys;
mod target;
mod worker;

pub use backend::{Landing, NAME, Ucx};
pub use library::{LIBRARY_VARIABLE, OLDEST, Places};
pub use mapping::MemoryType;
pub use probe::probe;
pub use report::{ErrorHandling, Protocol, Report};
pub use settings::{Limits, Settings};
pub use target::{Event, Foreign, LandingMemory, Link, Progress, Target};
