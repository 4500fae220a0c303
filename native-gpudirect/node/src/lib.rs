//! The native engine and GPU landing for Node: classes and records as `runtime-node/native/module.ts` describes them.

mod clock;
mod close;
mod cuda;
mod engine;
mod failure;
mod gpu;
mod options;
mod probes;
mod record;
mod segment;
mod table;
mod transfer_failure;
mod wake;

use napi_derive::napi;

/// The version of the package that this was built for.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
