//! The engine against a scripted store.

// Clippy takes functions marked as tests for tests, not what these call.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answer_rows;
mod answers;
mod basics;
mod cancels;
mod details;
mod error_rows;
mod framing_rows;
mod kit;
mod limits;
mod panics;
mod proxy;
mod sockets;
mod tls;
