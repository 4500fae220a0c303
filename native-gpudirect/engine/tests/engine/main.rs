//! The engine against a scripted store.

// A test says what is wrong by ending; the kit holds more than each table reads.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    unused_imports
)]

mod basics;
mod kit;
