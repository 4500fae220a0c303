use std::path::Path;

use napi_derive::napi;
use os2g_transfer::{Probe, Shm, cuda};
use os2g_ucx::Settings;

/// What a back end came to on this machine.
#[napi(object, use_nullable = true)]
pub struct NativeProbe {
    /// `shm`, `cuda`, `ucx`.
    pub name: String,
    /// What it needs is installed.
    pub found: bool,
    /// Version of what was found.
    pub version: Option<String>,
    /// It was tried, and works.
    pub works: bool,
    /// Why, as a sentence.
    pub why: String,
    /// What to do; empty where nothing need be done.
    pub mend: String,
    /// More that is worth showing.
    pub details: Vec<String>,
}

impl From<Probe> for NativeProbe {
    fn from(probe: Probe) -> NativeProbe {
        NativeProbe {
            name: probe.name.to_owned(),
            found: probe.found,
            version: probe.version,
            works: probe.works,
            why: probe.why,
            mend: probe.mend,
            details: probe.details,
        }
    }
}

/// Tries each transfer back end. `cuda_library` is the file of the driver; none: its usual name.
#[napi]
pub fn probe_backends(cuda_library: Option<String>) -> Vec<NativeProbe> {
    vec![
        Shm::probe().into(),
        cuda::probe(cuda_library.as_deref().map(Path::new)).into(),
        os2g_ucx::probe(&Settings::default()).into(),
    ]
}
