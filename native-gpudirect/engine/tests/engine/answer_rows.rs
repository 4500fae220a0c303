//! What the rows of answers are made of.

use crate::kit::{ETAG, answer, body_of};

pub const LENGTH: usize = 5000;

pub fn body() -> Vec<u8> {
    body_of(LENGTH)
}

pub struct Row {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    /// The store closes the connection behind them.
    pub closes: bool,
    pub outcome: &'static str,
    /// Part of the sentence.
    pub says: &'static str,
    /// Connections that the store has seen after the next GET.
    pub connections: usize,
}

pub fn row(name: &'static str, bytes: Vec<u8>, outcome: &'static str, says: &'static str) -> Row {
    let connections = if outcome == "fetched" { 1 } else { 2 };
    Row {
        name,
        bytes,
        closes: false,
        outcome,
        says,
        connections,
    }
}

pub fn closing(name: &'static str, bytes: Vec<u8>, outcome: &'static str, says: &'static str) -> Row {
    Row {
        closes: true,
        connections: 2,
        ..row(name, bytes, outcome, says)
    }
}

pub fn kept(row: Row) -> Row {
    Row {
        connections: 1,
        ..row
    }
}

/// Answers to a GET of the whole object.
pub fn whole(length: &str, sent: &[u8]) -> Vec<u8> {
    answer(200, &[("ETag", ETAG), ("Content-Length", length)], sent)
}

pub fn chunked(chunks: &[u8]) -> Vec<u8> {
    answer(200, &[("ETag", ETAG), ("Transfer-Encoding", "chunked")], chunks)
}

pub fn chunks_of(size: usize, extension: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body().chunks(size) {
        bytes.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

pub fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
