//! What a signed request costs: nanoseconds for each `RequestWriter::write`, best and median of several rounds.
//!
//! `cargo run --release -p os2g-wire --example sign-cost`

use os2g_wire::{Credentials, Get, RequestWriter, Target};
use std::hint::black_box;
use std::time::Instant;

const REQUESTS: usize = 100_000;
const ROUNDS: usize = 11;
const NOW_MS: u64 = 1_700_000_000_000;
const REQUESTS_A_SECOND: u64 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = Target {
        host: "bucket.s3.eu-north-1.amazonaws.com".into(),
        path_prefix: String::new(),
        signing_region: "eu-north-1".into(),
        signing_service: "s3".into(),
        requester_pays: false,
        ask_checksum: false,
        absolute_prefix: None,
        proxy_authorization: None,
    };
    let keys = Credentials {
        access_key_id: "AKIAIOSFODNN7EXAMPLE".into(),
        secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
        session_token: None,
        expires_at_ms: None,
    };
    let session = Credentials {
        session_token: Some("T".repeat(800)),
        ..keys.clone()
    };
    for (name, credentials) in [
        ("anonymous", None),
        ("signed", Some(&keys)),
        ("signed, token of 800 B", Some(&session)),
    ] {
        let writer = &mut RequestWriter::new(target.clone()).map_err(|verdict| verdict.what)?;
        let mut rounds = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            rounds.push(round_ns(writer, credentials, round as u64)?);
        }
        rounds.sort_by(f64::total_cmp);
        println!(
            "{name}: {:.0} ns a request at best, {:.0} median",
            rounds[0],
            rounds[ROUNDS / 2]
        );
    }
    Ok(())
}

fn round_ns(
    writer: &mut RequestWriter,
    credentials: Option<&Credentials>,
    round: u64,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut out = Vec::with_capacity(4096);
    let mut key = *b"train/n01440764/n01440764_00000000.JPEG";
    let start = Instant::now();
    for number in 0..REQUESTS as u64 {
        out.clear();
        let digit = key.len() - 6;
        key[digit] = b'0' + (number % 10) as u8;
        let get = Get {
            key: &key,
            offset: number * 110_000,
            length: 110_000,
            object_size: 20_000_000_000,
            if_match: Some(b"\"d41d8cd98f00b204e9800998ecf8427e\""),
        };
        let now_ms = NOW_MS + round * 60_000 + number * 1000 / REQUESTS_A_SECOND;
        writer
            .write(&mut out, &get, credentials, now_ms)
            .map_err(|verdict| verdict.what)?;
        black_box(&out);
    }
    Ok(start.elapsed().as_nanos() as f64 / REQUESTS as f64)
}
