//! A scripted store, and an engine with someone who drains it.

mod driver;
mod memory;
mod random;
mod store;

pub use driver::{Driver, Object, Outcome, SHORT, credentials, options_for};
pub use random::Random;
pub use store::{Connection, Request, Store, answer, error_xml, object_answer};

use std::time::{Duration, Instant};

/// No test waits longer for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a condition that nothing announces.
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "never came: {what}");
        std::thread::yield_now();
    }
}
