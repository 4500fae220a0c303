//! Whole answers, good, broken and cut, torn into pieces: the outcome is that of one piece.

mod support;

use os2g_wire::{AnsweredRequest, Asked, parse_head};
use support::{MAX_HEADERS, Outcome, Random, answer, chunked, error_xml, receive};

const BODY: &[u8] = b"0123456789abcdefghij";
const ASKED: Asked<'static> = Asked {
    offset: 0,
    length: 20,
    object_size: 20,
    etag: Some("\"e\""),
};
const REQUEST: AnsweredRequest<'static> = AnsweredRequest {
    if_match: false,
    signing_region: "us-east-1",
    credentials: None,
    proxy_authorization: None,
    now_ms: 0,
};

fn samples() -> Vec<Vec<u8>> {
    let etag = ("ETag", "\"e\"");
    let sum = ("x-amz-checksum-crc32c", "AAAAAA==");
    let error = error_xml("SlowDown", "");
    let error_length = error.len().to_string();
    let slow = [("Content-Length", &*error_length), ("Retry-After", "2")];
    let hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
    vec![
        answer(200, &[etag, ("Content-Length", "20")], BODY),
        answer(200, &[etag, ("Transfer-Encoding", "chunked")], &chunked(BODY)),
        answer(200, &[etag, ("Connection", "close")], BODY),
        answer(200, &[etag, ("Content-Length", "20"), sum], BODY),
        answer(
            206,
            &[etag, ("Content-Length", "20"), ("Content-Range", "bytes 0-19/20")],
            BODY,
        ),
        answer(503, &slow, error.as_bytes()),
        answer(200, &[etag, ("Content-Length", "5")], BODY),
        answer(204, &[], b""),
        [&hints[..], &answer(200, &[etag, ("Content-Length", "20")], BODY)].concat(),
        answer(
            200,
            &[etag, ("Content-Length", "20"), ("Transfer-Encoding", "chunked")],
            BODY,
        ),
    ]
}

/// Where a head is refused depends on how much of it is there, so the sentence may be another; the class may not.
fn assert_alike(one: &Outcome, other: &Outcome, about: &str) {
    assert_eq!(one.name(), other.name(), "{about}: {one:?}, {other:?}");
    if one.name() != "protocol" || one.answer().is_some() {
        assert_eq!(one, other, "{about}");
    }
}

fn tear(bytes: &[u8], random: &mut Random, about: &str) {
    let whole = receive(&[bytes], true, &ASKED, &REQUEST);
    for at in 0..=bytes.len() {
        let torn = receive(&[&bytes[..at], &bytes[at..]], true, &ASKED, &REQUEST);
        assert_alike(&torn, &whole, &format!("{about}, torn at {at}"));
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_alike(&receive(&single, true, &ASKED, &REQUEST), &whole, about);
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(1 + random.below(rest.len().min(30)));
        pieces.push(piece);
        rest = more;
    }
    assert_alike(&receive(&pieces, true, &ASKED, &REQUEST), &whole, about);
}

#[test]
fn answers_torn_anywhere() {
    let mut random = Random::seeded("answers torn anywhere");
    for (number, bytes) in samples().iter().enumerate() {
        tear(bytes, &mut random, &format!("sample {number}"));
    }
}

#[test]
fn broken_answers_torn_anywhere() {
    let mut random = Random::seeded("broken answers torn anywhere");
    let samples = samples();
    for round in 0..300 {
        let mut bytes = samples[random.below(samples.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] = b"\r\n:,; 0\0"[random.below(8)],
                _ => drop(bytes.remove(at)),
            }
        }
        tear(&bytes, &mut random, &format!("round {round}"));
    }
}

#[test]
fn answers_cut_anywhere_are_never_taken_for_whole() {
    for (number, bytes) in samples().iter().enumerate() {
        let whole = receive(&[bytes], true, &ASKED, &REQUEST);
        for at in 0..bytes.len() {
            match receive(&[&bytes[..at]], true, &ASKED, &REQUEST) {
                Outcome::Fetched(got) => {
                    assert_eq!(whole, Outcome::Fetched(got), "sample {number}, cut at {at}");
                }
                Outcome::Waiting => panic!("sample {number}, cut at {at}: waits for a closed connection"),
                Outcome::Failed { .. } => {}
            }
            assert_ne!(receive(&[&bytes[..at]], false, &ASKED, &REQUEST).name(), "reset");
        }
    }
}

#[test]
fn a_head_is_whole_at_its_last_byte_and_not_before() {
    for bytes in samples() {
        let Ok(Some((head, length))) = parse_head(&bytes, MAX_HEADERS) else {
            continue;
        };
        for at in 0..length {
            assert!(
                matches!(parse_head(&bytes[..at], MAX_HEADERS), Ok(None)),
                "cut at {at}"
            );
        }
        let (exact, same) = parse_head(&bytes[..length], MAX_HEADERS)
            .expect("a head")
            .expect("a whole head");
        assert_eq!(
            (exact.status(), exact.etag(), same),
            (head.status(), head.etag(), length)
        );
    }
}
