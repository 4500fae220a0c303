//! The native engine for Node: classes and records as `runtime-node/native/module.ts` describes them.

mod clock;
mod close;
mod engine;
mod failure;
mod options;
mod probes;
mod segment;
mod table;

use napi_derive::napi;

/// The version of the package that this was built for.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
