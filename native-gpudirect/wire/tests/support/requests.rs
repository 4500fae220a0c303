//! Requests to write, and who signs them.

#![allow(clippy::expect_used)] // a failure is what it is for in tests

use os2g_wire::{Credentials, Get, RequestWriter, Target};

pub fn credentials(session_token: Option<&str>) -> Credentials {
    Credentials {
        access_key_id: "AKIAIOSFODNN7EXAMPLE".into(),
        secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
        session_token: session_token.map(str::to_owned),
        expires_at_ms: None,
    }
}

pub fn target() -> Target {
    Target {
        host: "h:9000".into(),
        path_prefix: "/bucket".into(),
        signing_region: "eu-north-1".into(),
        signing_service: "s3".into(),
        requester_pays: false,
        ask_checksum: false,
        absolute_prefix: None,
        proxy_authorization: None,
    }
}

pub fn writer(target: Target) -> RequestWriter {
    RequestWriter::new(target).expect("a good target")
}

pub fn written(
    writer: &mut RequestWriter,
    get: &Get<'_>,
    credentials: Option<&Credentials>,
    now_ms: u64,
) -> String {
    let mut out = Vec::new();
    writer
        .write(&mut out, get, credentials, now_ms)
        .expect("a request");
    String::from_utf8(out).expect("text")
}

pub const WHOLE: Get<'static> = Get {
    key: b"k",
    offset: 0,
    length: 20,
    object_size: 20,
    if_match: None,
};
pub const MAY_2013_MS: u64 = 1_369_353_600_000;
