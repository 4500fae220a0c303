//! Answers, and the class that each ends in.

use crate::kit::{ETAG, answer, body_of, error_xml};

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

fn closing(name: &'static str, bytes: Vec<u8>, outcome: &'static str, says: &'static str) -> Row {
    Row {
        closes: true,
        connections: 2,
        ..row(name, bytes, outcome, says)
    }
}

fn kept(row: Row) -> Row {
    Row {
        connections: 1,
        ..row
    }
}

/// Answers to a GET of the whole object.
fn whole(length: &str, sent: &[u8]) -> Vec<u8> {
    answer(200, &[("ETag", ETAG), ("Content-Length", length)], sent)
}

fn chunked(chunks: &[u8]) -> Vec<u8> {
    answer(200, &[("ETag", ETAG), ("Transfer-Encoding", "chunked")], chunks)
}

fn chunks_of(size: usize, extension: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body().chunks(size) {
        bytes.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

pub fn framing_rows() -> Vec<Row> {
    let all = body();
    let longer = joined(&[&all, b"more"]);
    let no_length = answer(200, &[("ETag", ETAG)], &[]);
    vec![
        row("right", whole("5000", &all), "fetched", ""),
        Row {
            connections: 2,
            ..row(
                "right, pipelined garbage behind",
                whole("5000", &longer),
                "fetched",
                "",
            )
        },
        Row {
            connections: 2,
            ..row(
                "right, and said to close",
                answer(
                    200,
                    &[
                        ("ETag", ETAG),
                        ("Content-Length", "5000"),
                        ("Connection", "close"),
                    ],
                    &all,
                ),
                "fetched",
                "",
            )
        },
        Row {
            connections: 2,
            ..row(
                "HTTP/1.0",
                joined(&[
                    b"HTTP/1.0 200 OK\r\nETag: \"e1\"\r\nContent-Length: 5000\r\n\r\n",
                    &all,
                ]),
                "fetched",
                "",
            )
        },
        row(
            "after interim answers",
            joined(&[
                b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 C\r\n\r\n",
                &whole("5000", &all),
            ]),
            "fetched",
            "",
        ),
        row(
            "length said twice alike",
            answer(
                200,
                &[
                    ("ETag", ETAG),
                    ("Content-Length", "5000"),
                    ("Content-Length", "5000"),
                ],
                &all,
            ),
            "fetched",
            "",
        ),
        closing(
            "until the end of the connection",
            joined(&[&no_length, &all]),
            "fetched",
            "",
        ),
        closing(
            "until the end, too short",
            joined(&[&no_length, &all[..10]]),
            "short",
            "the body ended after 10 of 5000 bytes",
        ),
        closing(
            "until the end, too long",
            joined(&[&no_length, &longer]),
            "long",
            "more than the 5000 bytes",
        ),
        row(
            "shorter, and said",
            whole("4990", &all[..4990]),
            "short",
            "Content-Length is 4990, expected 5000",
        ),
        row(
            "longer, and said",
            whole("5004", &longer),
            "long",
            "Content-Length is 5004, expected 5000",
        ),
        closing(
            "shorter than said",
            whole("5000", &all[..4990]),
            "reset",
            "ended after 4990 of 5000 bytes",
        ),
        closing(
            "empty",
            whole("5000", &[]),
            "reset",
            "ended after 0 of 5000 bytes",
        ),
        row(
            "chunks of 777",
            chunked(&joined(&[&chunks_of(777, ""), b"0\r\n\r\n"])),
            "fetched",
            "",
        ),
        row(
            "one chunk",
            chunked(&joined(&[&chunks_of(5000, ""), b"0\r\n\r\n"])),
            "fetched",
            "",
        ),
        row(
            "chunks of two bytes, with extensions and trailers",
            chunked(&joined(&[&chunks_of(2, ";x=y"), b"0\r\nx: y\r\n\r\n"])),
            "fetched",
            "",
        ),
        Row {
            connections: 2,
            ..row(
                "chunks and garbage behind",
                chunked(&joined(&[&chunks_of(900, ""), b"0\r\n\r\nHTTP"])),
                "fetched",
                "",
            )
        },
        row(
            "chunks too few",
            chunked(&joined(&[&chunks_of(5000, "")[..6], &all[..0], b""])),
            "timeout_idle",
            "stood still",
        ),
        kept(row(
            "chunked, too short",
            chunked(b"3\r\nabc\r\n0\r\n\r\n"),
            "short",
            "after 3 of 5000",
        )),
        row(
            "chunked, too long",
            chunked(&joined(&[&chunks_of(5000, ""), b"1\r\nx\r\n0\r\n\r\n"])),
            "long",
            "more than the 5000",
        ),
        row(
            "a chunk that says to be huge",
            chunked(&joined(&[b"fffffffff\r\n", &longer])),
            "long",
            "more than the 5000",
        ),
        row(
            "a chunk's size too large to be",
            chunked(&joined(&[b"ffffffffffffffffff\r\n", &longer])),
            "protocol",
            "the size of a chunk",
        ),
        row(
            "a chunk's size that is none",
            chunked(b"zz\r\n"),
            "protocol",
            "the size of a chunk",
        ),
        row(
            "a chunk's size below 0",
            chunked(b"-5\r\nabcde\r\n"),
            "protocol",
            "the size of a chunk",
        ),
        row(
            "a chunk longer than its size",
            chunked(b"3\r\nabcdef\r\n"),
            "protocol",
            "does not end where its size says",
        ),
        closing(
            "cut in a chunk",
            chunked(b"ff\r\nabc"),
            "reset",
            "ended after 3 of 5000",
        ),
        closing(
            "cut between chunks",
            chunked(b"3\r\nabc\r\n"),
            "reset",
            "ended after 3 of 5000",
        ),
        closing(
            "cut in a chunk's size",
            chunked(b"f"),
            "reset",
            "ended after 0 of 5000",
        ),
    ]
}

pub fn head_rows() -> Vec<Row> {
    let all = body();
    let with = |headers: &[(&str, &str)]| answer(200, headers, &all);
    let padding = "p".repeat(3000);
    let huge = "p".repeat(70_000);
    vec![
        row(
            "a head of 3 KB",
            with(&[("ETag", ETAG), ("x", &padding), ("Content-Length", "5000")]),
            "fetched",
            "",
        ),
        row(
            "a head of 70 KB",
            with(&[("ETag", ETAG), ("x", &huge), ("Content-Length", "5000")]),
            "protocol",
            "too long",
        ),
        row(
            "1,000 fields",
            with(&[("x", "y"); 1000]),
            "protocol",
            "too many fields",
        ),
        row(
            "endless interim answers",
            b"HTTP/1.1 100 C\r\n\r\n".repeat(1000),
            "protocol",
            "interim answers",
        ),
        row(
            "switching protocols",
            b"HTTP/1.1 101 S\r\nupgrade: x\r\n\r\n".to_vec(),
            "protocol",
            "101",
        ),
        row(
            "no HTTP",
            b"SSH-2.0-x\r\n".to_vec(),
            "protocol",
            "not an HTTP answer",
        ),
        row(
            "a TLS alert",
            vec![0x15, 3, 1, 0, 2, 2, 70],
            "protocol",
            "not an HTTP answer",
        ),
        row(
            "HTTP/2",
            b"HTTP/2 200\r\n\r\n".to_vec(),
            "protocol",
            "not an HTTP answer",
        ),
        row(
            "a length that is none",
            with(&[("ETag", ETAG), ("Content-Length", "many")]),
            "protocol",
            "Content-Length is not a number",
        ),
        row(
            "a length below 0",
            with(&[("ETag", ETAG), ("Content-Length", "-1")]),
            "protocol",
            "Content-Length is not a number",
        ),
        row(
            "a length too large to be",
            with(&[("ETag", ETAG), ("Content-Length", "99999999999999999999")]),
            "protocol",
            "Content-Length is not a number",
        ),
        row(
            "two lengths",
            with(&[
                ("ETag", ETAG),
                ("Content-Length", "5000"),
                ("Content-Length", "5001"),
            ]),
            "protocol",
            "different Content-Lengths",
        ),
        row(
            "length and chunks",
            with(&[
                ("ETag", ETAG),
                ("Content-Length", "5000"),
                ("Transfer-Encoding", "chunked"),
            ]),
            "protocol",
            "both Content-Length",
        ),
        row(
            "another coding",
            with(&[("ETag", ETAG), ("Transfer-Encoding", "gzip, chunked")]),
            "protocol",
            "transfer coding",
        ),
        closing(
            "an end in the head",
            b"HTTP/1.1 200 OK\r\nETag".to_vec(),
            "reset",
            "the connection was cut",
        ),
        closing("no answer", Vec::new(), "reset", "the connection was cut"),
        row(
            "no ETag",
            with(&[("Content-Length", "5000")]),
            "changed",
            "the answer has no ETag, expected \"e1\"",
        ),
        row(
            "another ETag",
            with(&[("ETag", "\"e2\""), ("Content-Length", "5000")]),
            "changed",
            "its ETag is \"e2\"",
        ),
        row(
            "an ETag without quotes",
            with(&[("ETag", "e1"), ("Content-Length", "5000")]),
            "fetched",
            "",
        ),
    ]
}

pub fn error_rows() -> Vec<Row> {
    let error = |status: u16, code: &str| {
        let xml = error_xml(code);
        answer(
            status,
            &[("Content-Length", &xml.len().to_string())],
            xml.as_bytes(),
        )
    };
    let bare = |status: u16| answer(status, &[("Content-Length", "0")], &[]);
    let kept_rows = [
        row("503", error(503, "SlowDown"), "throttled", ""),
        row("429", bare(429), "throttled", ""),
        row("500", error(500, "InternalError"), "server", ""),
        row("400 RequestTimeout", error(400, "RequestTimeout"), "server", ""),
        row("404", error(404, "NoSuchKey"), "not_found", ""),
        row("403", error(403, "AccessDenied"), "forbidden", ""),
        row("archived", error(403, "InvalidObjectState"), "archived", ""),
        row("expired", error(400, "ExpiredToken"), "expired", ""),
        row("301", error(301, "PermanentRedirect"), "moved", ""),
        row("307", bare(307), "moved", ""),
        row("416", error(416, "InvalidRange"), "changed", ""),
        row("405", error(405, "MethodNotAllowed"), "refused", ""),
        row("204", answer(204, &[], &[]), "protocol", ""),
        row("304", answer(304, &[], &[]), "protocol", ""),
    ];
    let mut rows: Vec<Row> = kept_rows.into_iter().map(kept).collect();
    let xml = error_xml("InternalError");
    let document = [
        ("Content-Type", "application/xml"),
        ("Content-Length", &xml.len().to_string()),
    ];
    rows.push(kept(row(
        "an error document in a 200",
        answer(200, &document, xml.as_bytes()),
        "server",
        "",
    )));
    rows.push(closing(
        "an error cut off",
        answer(503, &[("Content-Length", "500")], b"<Error>"),
        "throttled",
        "",
    ));
    rows.push(closing(
        "an error until the end",
        answer(404, &[], b"<Error>"),
        "not_found",
        "",
    ));
    let endless = vec![b'x'; 300_000];
    rows.push(row(
        "an error without end",
        answer(500, &[("Content-Length", "999999999")], &endless),
        "server",
        "",
    ));
    rows.push(row(
        "an error in bad chunks",
        answer(500, &[("Transfer-Encoding", "chunked")], b"zz\r\n"),
        "server",
        "",
    ));
    rows
}
