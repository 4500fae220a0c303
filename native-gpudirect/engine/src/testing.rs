//! What the crate's own tests share.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::ObjectTable;
use crate::options::{EngineOptions, Limits, Verify, system_wall_ms};
use crate::records::{GET, Submission};

/// No test waits longer for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a condition that nothing announces.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "never came: {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn options_for(address: SocketAddr) -> EngineOptions {
    EngineOptions {
        tls: false,
        hostname: address.ip().to_string(),
        port: address.port(),
        host: address.to_string(),
        path_prefix: "/b".to_owned(),
        signing_region: "us-east-1".to_owned(),
        signing_service: "s3".to_owned(),
        requester_pays: false,
        verify: Verify::Etag,
        limits: Limits {
            connect: PATIENCE,
            first_byte: PATIENCE,
            idle: PATIENCE,
            total: None,
        },
        max_connections: 16,
        threads: 1,
        ca_pem: None,
        proxy: None,
        wall_ms: Arc::new(system_wall_ms),
    }
}

/// The size of the one object in [`OneObject`].
pub(crate) const SIZE: usize = 1_000_000;

pub(crate) struct OneObject;

impl ObjectTable for OneObject {
    fn rows(&self) -> u64 {
        1
    }
    fn key(&self, _row: u64) -> &[u8] {
        b"k"
    }
    fn etag(&self, _row: u64) -> Option<&[u8]> {
        None
    }
    fn object_size(&self, _row: u64) -> u64 {
        SIZE as u64
    }
}

/// A GET of all of it to its own place in region 0.
pub(crate) fn get(id: u32) -> Submission {
    Submission {
        kind: GET,
        id,
        attempt: 1,
        length: SIZE as f64,
        target: f64::from(id) * SIZE as f64,
        ..Submission::default()
    }
}

/// The next connection, once a request has come on it.
pub(crate) fn accept_request(listener: &TcpListener) -> TcpStream {
    let (mut tcp, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(tcp.read(&mut byte).unwrap(), 1);
        head.push(byte[0]);
    }
    tcp
}

/// The head of an answer with the object, and the first so many bytes of the body, each of them 7.
pub(crate) fn begun_answer(bytes: usize) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + bytes, 7);
    answer
}
