//! What the crate's own tests share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::options::{EngineOptions, Limits, Verify, system_wall_ms};

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
