//! Chunked bodies, well and badly formed, and torn into pieces.

mod support;

use os2g_wire::{BadChunk, ChunkDecoder, Step};
use support::Random;

/// The data, how it ended, and how many bytes the body took.
fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Step, usize) {
    let mut decoder = ChunkDecoder::new();
    let (mut data, mut read) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match decoder.next(rest) {
                Step::Data(taken) => {
                    data.extend_from_slice(&rest[..taken]);
                    rest = &rest[taken..];
                    read += taken;
                }
                Step::Skip(taken) => {
                    rest = &rest[taken..];
                    read += taken;
                }
                Step::NeedMore => break,
                end @ (Step::End | Step::Bad(_)) => return (data, end, read),
            }
        }
    }
    (data, Step::NeedMore, read)
}

#[test]
fn bodies_and_how_they_end() {
    let long_extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(16 * 1024));
    let long_trailer = format!("0\r\nX: {}\r\n\r\n", "x".repeat(64 * 1024));
    let many_extensions = "1;abcdefg\r\nx\r\n".repeat(3000);
    let bad = Step::Bad;
    for (body, data, end) in [
        ("5\r\nhello\r\n0\r\n\r\n", "hello", Step::End),
        (
            "5\r\nhello\r\n1\r\n!\r\n000\r\n\r\nHTTP/1.1 200",
            "hello!",
            Step::End,
        ),
        (
            "A;x=\"y\"\r\n0123456789\r\n0;z\r\nX: y\r\nZ: \r\n\r\n",
            "0123456789",
            Step::End,
        ),
        ("a \t\r\n0123456789\r\n0\r\n\r\n", "0123456789", Step::End),
        ("0\r\n\r\n", "", Step::End),
        ("", "", Step::NeedMore),
        ("5\r\nhe", "he", Step::NeedMore),
        ("5\r\nhello\r\n0\r\n", "hello", Step::NeedMore),
        ("\r\n", "", bad(BadChunk::Size)),
        (";x\r\n", "", bad(BadChunk::Size)),
        ("-5\r\nhello", "", bad(BadChunk::Size)),
        ("0x5\r\nhello", "", bad(BadChunk::Size)),
        ("5h\r\nhello", "", bad(BadChunk::Size)),
        ("00000000000005\r\nhello", "", bad(BadChunk::Size)),
        ("ffffffffffffffff\r\nhello", "", bad(BadChunk::Size)),
        ("10000000000000000000000005\r\nhello", "", bad(BadChunk::Size)),
        ("5\nhello", "", bad(BadChunk::Size)),
        ("5\rhello", "", bad(BadChunk::LineEnd)),
        ("5\r\nhello!\r\n", "hello", bad(BadChunk::LineEnd)),
        ("5\r\nhello\n0\r\n\r\n", "hello", bad(BadChunk::LineEnd)),
        ("5\r\nhello\r0\r\n\r\n", "hello", bad(BadChunk::LineEnd)),
        ("5;a\nb\r\nhello", "", bad(BadChunk::Extension)),
        ("5;a\0b\r\nhello", "", bad(BadChunk::Extension)),
        ("0\r\nX: a\nb\r\n\r\n", "", bad(BadChunk::Trailer)),
        ("0\r\nX: a\rb\r\n\r\n", "", bad(BadChunk::LineEnd)),
        ("0\r\n\rX", "", bad(BadChunk::LineEnd)),
        (&long_extension, "", bad(BadChunk::Extension)),
        (&long_trailer, "", bad(BadChunk::Trailer)),
        (&many_extensions, &"x".repeat(2048), bad(BadChunk::Extension)),
    ] {
        let (got, how, _) = decode(&[body.as_bytes()]);
        let name = &body[..body.len().min(40)];
        assert_eq!(
            (String::from_utf8_lossy(&got).as_ref(), how),
            (data, end),
            "{name:?}"
        );
    }
}

#[test]
fn what_follows_the_body_is_left_and_an_end_stays_one() {
    let (_, end, read) = decode(&[b"1\r\nx\r\n0\r\n\r\nHTTP/1.1"]);
    assert_eq!((end, read), (Step::End, 11));
    let mut decoder = ChunkDecoder::new();
    assert_eq!(decoder.next(b"x"), Step::Bad(BadChunk::Size));
    assert_eq!(decoder.next(b"5\r\n"), Step::Bad(BadChunk::Size), "bad stays bad");
    let mut decoder = ChunkDecoder::new();
    assert_eq!(decoder.next(b"fffffffffffff\r\n"), Step::Skip(15));
    assert_eq!(decoder.data_remaining(), (1 << 52) - 1);
    assert_eq!(decoder.next(b"xyz"), Step::Data(3));
    assert_eq!(decoder.data_remaining(), (1 << 52) - 4);
    assert!(!decoder.is_end());
}

/// A body of random chunks with extensions and trailer fields, and its data.
fn random_body(random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut data) = (Vec::new(), Vec::new());
    for _ in 0..random.below(6) {
        let count = 1 + random.below(40);
        let chunk = random.bytes(count);
        let extension = ["", ";a", ";a=\"b\"", " ;a"][random.below(4)];
        body.extend_from_slice(format!("{:X}{extension}\r\n", chunk.len()).as_bytes());
        body.extend_from_slice(&chunk);
        body.extend_from_slice(b"\r\n");
        data.extend_from_slice(&chunk);
    }
    body.extend_from_slice(["0\r\n\r\n", "00;x\r\nA: b\r\n\r\n"][random.below(2)].as_bytes());
    (body, data)
}

#[test]
fn bodies_torn_anywhere_give_the_same_bytes() {
    let mut random = Random::seeded("bodies torn anywhere");
    for round in 0..200 {
        let (body, data) = random_body(&mut random);
        let whole = decode(&[&body]);
        assert_eq!(whole, (data, Step::End, body.len()), "round {round}");
        for at in 0..=body.len() {
            assert_eq!(
                decode(&[&body[..at], &body[at..]]),
                whole,
                "round {round}, torn at {at}"
            );
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(decode(&bytes), whole, "round {round}, byte by byte");
    }
}

#[test]
fn broken_bodies_torn_anywhere_end_in_the_same_way() {
    let mut random = Random::seeded("broken bodies torn anywhere");
    for round in 0..400 {
        let (mut body, _) = random_body(&mut random);
        for _ in 0..=random.below(3) {
            let at = random.below(body.len());
            body[at] = b"\r\n0f;:\0x"[random.below(8)];
        }
        let whole = decode(&[&body]);
        for at in 0..=body.len() {
            let (data, end, read) = decode(&[&body[..at], &body[at..]]);
            assert_eq!((&data, end), (&whole.0, whole.1), "round {round}, torn at {at}");
            assert!(read <= body.len());
        }
    }
}
