//! Heads of answers: what is read of them, what is refused, and where their bodies end.
#![allow(clippy::expect_used)] // helpers of tests: a failure is what it is for

use os2g_wire::{ChecksumAlgorithm, Framing, Head, MAX_HEAD_BYTES, parse_head};

fn read(text: &str) -> Head {
    let (head, length) = parse_head(text.as_bytes(), 100)
        .expect("a head")
        .expect("a whole head");
    assert_eq!(length, text.len());
    head
}

#[test]
fn the_fields_that_a_get_cares_about() {
    let head = read(
        "HTTP/1.1 206 Partial\r\nETag: \"e\"\r\nCONTENT-LENGTH: 4\r\ncontent-range:bytes 3-6/20\r\n\
         Content-Type: text/plain \t\r\nRetry-After: 3\r\nx-amz-request-id: R\r\nX-Amz-Bucket-Region: eu-west-1\r\n\
         Date: now\r\nx-amz-checksum-type: FULL_OBJECT\r\nx-amz-checksum-crc32: AAAAAA==\r\n\
         x-amz-checksum-SHA1: BBBB\r\nx-amz-checksum-crc64nvme: CCCC\r\nx-amz-checksum-md9: DDDD\r\nX-Other: \r\n\r\n",
    );
    assert_eq!(head.status(), 206);
    assert_eq!(head.etag(), Some("\"e\""));
    assert_eq!(head.content_length(), Some(4));
    assert_eq!(head.content_range(), Some("bytes 3-6/20"));
    assert_eq!(head.content_type(), Some("text/plain"));
    assert_eq!(head.retry_after(), Some("3"));
    assert_eq!(head.request_id(), Some("R"));
    assert_eq!(head.bucket_region(), Some("eu-west-1"));
    assert_eq!(head.date(), Some("now"));
    assert_eq!(head.checksum_type(), Some("FULL_OBJECT"));
    assert_eq!(head.checksum(), Some((ChecksumAlgorithm::Sha1, "BBBB")));
    assert!(!head.is_http_1_0());
}

#[test]
fn no_fields_odd_text_and_repetitions() {
    let head = read("HTTP/1.1 200\r\n\r\n");
    assert_eq!(
        (head.etag(), head.content_length(), head.checksum()),
        (None, None, None)
    );
    let head = read("HTTP/1.1 200 OK\r\nETag:\r\n\r\n");
    assert_eq!(head.etag(), Some(""), "there, and empty");
    let head = read("HTTP/1.1 200 OK\r\nETag: a\r\nETag: b\r\n\r\n");
    assert_eq!(head.etag(), Some("b"), "the last one counts");
    let bytes = b"HTTP/1.1 200 \xe9\r\nETag: \"\xe9\xff\"\r\n\r\n";
    let (head, _) = parse_head(bytes, 100).expect("a head").expect("a whole head");
    assert_eq!(head.etag(), Some("\"\u{e9}\u{ff}\""), "one character a byte");
}

#[test]
fn a_head_that_is_read_again_forgets() {
    let mut head = read(
        "HTTP/1.0 503 X\r\nETag: a\r\nContent-Length: 5\r\nx-amz-checksum-crc32: A\r\nConnection: close\r\n\r\n",
    );
    let again = b"HTTP/1.1 200 OK\r\nDate: d\r\n\r\nrest";
    assert_eq!(head.read(again, 100), Ok(Some(again.len() - 4)));
    assert_eq!((head.status(), head.date(), head.etag()), (200, Some("d"), None));
    assert_eq!((head.content_length(), head.checksum()), (None, None));
    assert!(head.keeps_alive() && !head.is_http_1_0());
}

#[test]
fn where_the_body_ends_and_whether_the_connection_lasts() {
    for (version, status, fields, framing, keeps_alive) in [
        ("1.1", 200, "Content-Length: 5\r\n", Framing::Length(5), true),
        (
            "1.1",
            200,
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            Framing::Length(5),
            true,
        ),
        ("1.1", 200, "Content-Length: 5, 5\r\n", Framing::Length(5), true),
        (
            "1.1",
            200,
            "Transfer-Encoding: chunked\r\n",
            Framing::Chunked,
            true,
        ),
        (
            "1.1",
            200,
            "Transfer-Encoding: , Chunked ,\r\n",
            Framing::Chunked,
            true,
        ),
        ("1.1", 200, "", Framing::UntilClose, true),
        ("1.1", 200, "Connection: close\r\n", Framing::UntilClose, false),
        (
            "1.1",
            200,
            "Connection: te, CLOSE\r\nContent-Length: 1\r\n",
            Framing::Length(1),
            false,
        ),
        (
            "1.1",
            200,
            "Connection: keep-alive\r\nConnection: close\r\n",
            Framing::UntilClose,
            false,
        ),
        ("1.0", 200, "Content-Length: 5\r\n", Framing::Length(5), false),
        (
            "1.0",
            200,
            "Content-Length: 5\r\nConnection: Keep-Alive\r\n",
            Framing::Length(5),
            true,
        ),
        ("1.1", 204, "Content-Length: 5\r\n", Framing::None, true),
        ("1.1", 304, "Content-Length: 5\r\n", Framing::None, true),
        ("1.1", 103, "", Framing::None, true),
        ("1.1", 404, "Content-Length: 0\r\n", Framing::Length(0), true),
        (
            "1.1",
            200,
            "Content-Length: 999999999999999\r\n",
            Framing::Length(999_999_999_999_999),
            true,
        ),
    ] {
        let head = read(&format!("HTTP/{version} {status} X\r\n{fields}\r\n"));
        assert_eq!(Framing::of(&head), framing, "{status} {fields}");
        assert_eq!(head.keeps_alive(), keeps_alive, "{version} {fields}");
    }
}

#[test]
fn heads_that_contradict_themselves_or_are_none() {
    for (bytes, says) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "both",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "both",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "several",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", "several"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "Content-Length is not a number",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n", "not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n\r\n", "not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "not a number"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
            "not a number",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "transfer coding",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
            "transfer coding",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n",
            "transfer coding",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"chunked\"\r\n\r\n",
            "transfer coding",
        ),
        (
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.0",
        ),
        ("HTTP/1.1 200 OK\r\nETag: a\r\n b\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\n folded\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\nETag : a\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\n: a\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\nETag: a\0b\r\n\r\n", "control character"),
        ("HTTP/1.1 200 OK\r\nETag: a\rb\r\n\r\n", ""),
        ("HTTP/1.1 200 OK\nETag: a\n\n", "CR LF"),
        ("HTTP/1.1 200 OK\r\nETag: a\n\r\n", "CR LF"),
        ("HTTP/1.1 200 OK\r\nETag: a\r\n\n", "CR LF"),
        ("HTTP/2 200 OK\r\n\r\n", "HTTP/1"),
        ("HTTP/1.2 200 OK\r\n\r\n", "HTTP/1"),
        ("HTTP/1.1 20 OK\r\n\r\n", "status"),
        ("HTTP/1.1 099 OK\r\n\r\n", "status"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "status"),
        ("HTTP/1.1 -20 OK\r\n\r\n", "status"),
        ("SSH-2.0-OpenSSH\r\n", ""),
        ("\0", ""),
    ] {
        let malformed = parse_head(bytes.as_bytes(), 100).expect_err(bytes).to_string();
        assert!(malformed.contains(says), "{bytes}: {malformed}");
    }
}

#[test]
fn heads_are_bounded() {
    let head_of = |bytes: usize| {
        let start = "HTTP/1.1 200 OK\r\nX: ";
        format!("{start}{}\r\n\r\n", "x".repeat(bytes - start.len() - 4)).into_bytes()
    };
    assert!(matches!(
        parse_head(&head_of(MAX_HEAD_BYTES), 100),
        Ok(Some((_, MAX_HEAD_BYTES)))
    ));
    let too_long = head_of(MAX_HEAD_BYTES + 1);
    assert!(parse_head(&too_long, 100).is_err());
    assert_eq!(
        parse_head(&too_long[..MAX_HEAD_BYTES - 1], 100).map(|head| head.is_none()),
        Ok(true)
    );
    assert!(parse_head(&vec![b'\n'; MAX_HEAD_BYTES], 100).is_err());

    let of_fields =
        |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count)).into_bytes();
    assert!(parse_head(&of_fields(3), 3).is_ok());
    assert!(parse_head(&of_fields(4), 3).is_err());
    assert!(parse_head(&of_fields(257), 10_000).is_err());
    assert!(parse_head(&of_fields(256), 10_000).is_ok());
    assert_eq!(parse_head(b"", 100).map(|head| head.is_none()), Ok(true));
}
