//! Heads that are none, and answers that are no object.

use crate::answer_rows::{Row, body, closing, kept, row};
use crate::kit::{ETAG, answer, error_xml};

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
