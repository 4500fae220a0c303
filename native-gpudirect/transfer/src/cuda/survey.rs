//! What there is, without opening any of it.

use std::path::Path;

use super::back_end::visible;
use super::device::find;
use super::driver::Driver;
use crate::error::Result;

/// The driver and the GPUs that this process may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The newest CUDA release that the driver supports.
    pub version: String,
    /// The products' names, in the order of their ordinals; at least one.
    pub gpus: Vec<String>,
}

/// Loads the driver (from `library`, or by its usual name) and asks for its GPUs; no context is made.
///
/// # Errors
/// `MissingLibrary`, `MissingSymbol`, the driver's; `Unsupported` without any GPU.
pub fn survey(library: Option<&Path>) -> Result<Survey> {
    let driver = Driver::open(library)?;
    let gpus = visible(&driver)?
        .into_iter()
        .map(|ordinal| find(&driver, ordinal).map(|(_, name)| name))
        .collect::<Result<_>>()?;
    Ok(Survey {
        version: driver.version()?,
        gpus,
    })
}
