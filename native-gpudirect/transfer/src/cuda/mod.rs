//! The `cuda` back end: GPU memory on the same machine.
//!
//! The driver is loaded when asked for ([`Driver::open`]) and needs no CUDA at build time. Bytes are received into
//! pinned staging memory and copied by the GPU's copy engine; so the host's CPU receives them, but does not copy.

#[allow(
    missing_docs,
    reason = "the driver's own names and fields, described in its reference"
)]
mod abi;
mod back_end;
mod completions;
mod device;
mod driver;
mod event;
mod landing;
mod lane;
mod plain_memory;
mod probe;
mod survey;
mod transfer;
mod virtual_memory;

pub use back_end::{Cuda, CudaOptions};
pub use completions::Wake;
pub use device::Device;
pub use driver::{DEFAULT_LIBRARY, Driver, SYMBOLS};
pub use event::{SharedEvent, Stream};
pub use landing::{LandingMemory, Sharing};
pub use probe::probe;
pub use survey::{Survey, survey};

use crate::error::{Error, Kind};

fn refused(why: &str) -> Error {
    Error::new(
        Kind::Refused,
        format!("The GPU memory or event that the other process sent {why}; it was not used."),
        "Run the same version of OS2G at both ends.",
    )
}
