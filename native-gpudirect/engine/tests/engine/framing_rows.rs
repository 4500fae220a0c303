//! Bodies in all framings, right and wrong.

use crate::answer_rows::{Row, body, chunked, chunks_of, closing, joined, kept, row, whole};
use crate::kit::{ETAG, answer};

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
