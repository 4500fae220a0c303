//! Answers that bring the object, or should: the table that the portable engine is held to, row by row.

mod support;

use support::rows::{BODY, ETAG, Row, check, error, good, in_chunks, part, row};
use support::{answer, chunked};

fn xml_part() -> Vec<u8> {
    let fields = [
        ("Content-Type", "text/xml"),
        ("Content-Length", "4"),
        ("Content-Range", "bytes 3-6/20"),
    ];
    answer(206, &fields, b"3456")
}

fn objects() -> Vec<Row> {
    let hints = [&b"HTTP/1.1 103 Early Hints\r\n\r\n"[..], &good(200, &[], BODY)].concat();
    vec![
        row("whole object", good(200, &[], BODY), "fetched"),
        row(
            "whole object without Content-Length",
            in_chunks(&[], &chunked(BODY)),
            "fetched",
        ),
        row(
            "whole object, ended by the connection",
            answer(200, &[("ETag", ETAG)], BODY),
            "fetched",
        )
        .closes(),
        row(
            "ETag without quotes",
            good(200, &[("ETag", "e1")], BODY),
            "fetched",
        ),
        Row {
            etag: None,
            ..row(
                "ETag unknown to the manifest",
                good(200, &[("ETag", "\"o\"")], BODY),
                "fetched",
            )
        },
        row("range", part("bytes 3-6/20"), "fetched").range(3, 4),
        row("range of an unknown size", part("bytes 3-6/*"), "fetched").range(3, 4),
        row("an interim answer before the answer", hints, "fetched"),
        row("range ignored", good(200, &[], BODY), "range")
            .range(3, 4)
            .says("the store ignored the range 3-6 and sent the whole object (status 200)"),
        row("shifted Content-Range", part("bytes 4-7/20"), "range")
            .range(3, 4)
            .says("Content-Range is \"bytes 4-7/20\", expected bytes 3-6/20"),
        row("206 without Content-Range", good(206, &[], b"3456"), "range")
            .range(3, 4)
            .says("status 206 without Content-Range, expected bytes 3-6"),
        row(
            "a Content-Range that ends elsewhere",
            part("bytes 3-7/20"),
            "range",
        )
        .range(3, 4),
        row(
            "a Content-Range that begins elsewhere",
            part("bytes 2-6/20"),
            "range",
        )
        .range(3, 4),
        row(
            "an XML object",
            good(200, &[("Content-Type", "text/xml")], BODY),
            "fetched",
        ),
        Row {
            etag: None,
            ..row("a part of an XML object without an ETag", xml_part(), "fetched").range(3, 4)
        },
        row("nonsense for Content-Range", part("items \"1\""), "range")
            .range(3, 4)
            .says("Content-Range is \"items \\\"1\\\"\", expected bytes 3-6/20"),
        row(
            "a Content-Range too large",
            part("bytes 3-6/1000000000000000"),
            "range",
        )
        .range(3, 4),
        row("another size in Content-Range", part("bytes 3-6/21"), "changed")
            .range(3, 4)
            .says("the object is 21 bytes long, the manifest says 20"),
        row("another ETag", good(200, &[("ETag", "\"e2\"")], BODY), "changed")
            .says("the object was replaced: its ETag is \"e2\", the manifest says \"e1\""),
        row(
            "no ETag",
            answer(200, &[("Content-Length", "20")], BODY),
            "changed",
        )
        .says("the answer has no ETag, expected \"e1\""),
    ]
}

fn bodies() -> Vec<Row> {
    let cut = |fields: &[(&str, &str)]| {
        let all = [&[("ETag", ETAG), ("Content-Length", "20")], fields].concat();
        answer(200, &all, b"0123")
    };
    let long = [BODY, b"x"].concat();
    vec![
        row("cut at half the body", cut(&[]), "reset").closes(),
        row("a body that goes on", cut(&[]), "waiting"),
        row(
            "short, with a short Content-Length",
            good(200, &[], b"0123"),
            "short",
        )
        .says("Content-Length is 4, expected 20"),
        row("short, chunked", in_chunks(&[], &chunked(b"0123")), "short")
            .says("the body ended after 4 of 20 bytes"),
        row(
            "short, no length at all",
            answer(200, &[("ETag", ETAG)], b"0123"),
            "short",
        )
        .closes(),
        row("chunked, cut", in_chunks(&[], b"14\r\n0123"), "reset").closes(),
        row("long, with a long Content-Length", good(200, &[], &long), "long")
            .says("Content-Length is 21, expected 20"),
        row("long, chunked", in_chunks(&[], &chunked(&long)), "long")
            .says("more than the 20 bytes asked for came"),
        row(
            "chunked, closing, cut",
            in_chunks(&[("Connection", "close")], b"14\r\n0123"),
            "reset",
        )
        .closes(),
        row("closing, cut", cut(&[("Connection", "close")]), "reset").closes(),
        row("cut before the answer", Vec::new(), "reset").closes(),
        row("not HTTP", b"SSH-2.0-OpenSSH\r\n".to_vec(), "protocol"),
        row(
            "endless headers",
            answer(200, &[("X-A", &"a".repeat(70_000))], b""),
            "protocol",
        ),
        row(
            "chunks of nonsense",
            in_chunks(&[], b"-5\r\n01234\r\n0\r\n\r\n"),
            "protocol",
        ),
        row(
            "200 with an error document",
            error(200, "InternalError", &[], ""),
            "server",
        )
        .code("InternalError"),
        row(
            "200 with a page of a proxy",
            answer(
                200,
                &[("Content-Type", "text/html"), ("Content-Length", "20")],
                b"<html>login!</html>0",
            ),
            "server",
        ),
        row(
            "206 with an error document",
            error(206, "SlowDown", &[], ""),
            "throttled",
        )
        .code("SlowDown"),
    ]
}

#[test]
fn every_answer_has_its_outcome() {
    check(objects());
    check(bodies());
}
