//! A scripted store, and an engine with someone who drains it.

mod driver;
mod memory;
mod random;
mod store;
mod tls;

pub use driver::{Driver, Object, SHORT, options_for};
pub use memory::Memory;
pub use random::Random;
pub use store::{Connection, Request, Store, answer, error_xml, object_answer};
pub use tls::{Authority, self_signed};

use std::time::{Duration, Instant};

/// The ETag of most objects.
pub const ETAG: &str = "\"e1\"";

/// Bytes that show where they are from.
pub fn body_of(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 31 % 251) as u8).collect()
}

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
