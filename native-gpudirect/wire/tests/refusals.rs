//! Answers that say why there is no object: the table that the portable engine is held to, row by row.

mod support;

use os2g_wire::{AnsweredRequest, Asked, Credentials, ERROR_BODY_KEPT_BYTES, classify_answer, parse_head};
use support::rows::{NOW_MS, Row, SIZE, bare, check, error, row};
use support::{answer, receive};

fn refusals() -> Vec<Row> {
    let here = [("x-amz-bucket-region", "eu-west-1")];
    let again = bare(503, &[("Retry-After", "3")]);
    vec![
        row("503 SlowDown", error(503, "SlowDown", &[], ""), "throttled").code("SlowDown"),
        Row {
            retry_after_ns: 3_000_000_000,
            ..row("503 with Retry-After", again, "throttled")
        },
        row("429", bare(429, &[]), "throttled"),
        row("500", error(500, "InternalError", &[], ""), "server"),
        row(
            "502 of a proxy",
            answer(502, &[("Content-Length", "3")], b"bad"),
            "server",
        ),
        row("408", bare(408, &[]), "server"),
        row(
            "400 RequestTimeout",
            error(400, "RequestTimeout", &[], ""),
            "server",
        ),
        row("404", error(404, "NoSuchKey", &[], ""), "not_found").code("NoSuchKey"),
        row("403", error(403, "AccessDenied", &[], ""), "forbidden"),
        row("401", bare(401, &[]), "forbidden"),
        row(
            "400 InvalidToken",
            error(400, "InvalidToken", &[], ""),
            "forbidden",
        ),
        row("400 ExpiredToken", error(400, "ExpiredToken", &[], ""), "expired"),
        row(
            "403 for the clock",
            error(403, "RequestTimeTooSkewed", &[], ""),
            "forbidden",
        ),
        row("archived", error(403, "InvalidObjectState", &[], ""), "archived"),
        row("400", error(400, "InvalidBucketName", &[], ""), "refused"),
        row("412", bare(412, &[]), "changed"),
        row("416", error(416, "InvalidRange", &[], ""), "changed"),
        row("204", answer(204, &[], b""), "protocol"),
        row(
            "304 with a length and no body",
            answer(304, &[("Content-Length", "20")], b""),
            "protocol",
        ),
        row(
            "101 that nobody asked for",
            answer(101, &[("Upgrade", "h2c")], b""),
            "protocol",
        ),
        row(
            "301 with a body",
            error(301, "PermanentRedirect", &here, ""),
            "moved",
        )
        .region("eu-west-1"),
        row("301 without a body", bare(301, &here), "moved").region("eu-west-1"),
        row("400 in another region", bare(400, &here), "moved").region("eu-west-1"),
        row(
            "400 AuthorizationHeaderMalformed",
            error(
                400,
                "AuthorizationHeaderMalformed",
                &[],
                "<Region>eu-west-1</Region>",
            ),
            "moved",
        )
        .region("eu-west-1"),
        row(
            "307 elsewhere",
            bare(307, &[("Location", "http://127.0.0.1:1/")]),
            "moved",
        ),
        row(
            "an error cut in its body",
            answer(404, &[("Content-Length", "90")], b"<Code>NoSuchKey</Code>"),
            "not_found",
        )
        .closes()
        .code("NoSuchKey"),
    ]
}

#[test]
fn every_refusal_has_its_class() {
    check(refusals());
}

#[test]
fn a_store_that_refuses_if_match() {
    let credentials = Credentials {
        access_key_id: "A".into(),
        secret_access_key: "S".into(),
        session_token: Some("T".into()),
        expires_at_ms: None,
    };
    let asked = Asked {
        offset: 0,
        length: SIZE,
        object_size: SIZE,
        etag: None,
    };
    for (bytes, if_match, has_token, outcome, refused) in [
        (bare(501, &[]), true, false, "server", true),
        (bare(501, &[]), false, false, "server", false),
        (error(400, "NotImplemented", &[], ""), true, false, "server", true),
        (
            error(400, "InvalidArgument", &[], ""),
            true,
            false,
            "server",
            true,
        ),
        (
            error(400, "InvalidArgument", &[], ""),
            false,
            false,
            "refused",
            false,
        ),
        (
            error(400, "InvalidBucketName", &[], ""),
            true,
            false,
            "refused",
            false,
        ),
        (bare(400, &[]), true, false, "server", true),
        (bare(400, &[]), true, true, "expired", false),
        (
            error(400, "InvalidBucketName", &[], ""),
            false,
            true,
            "refused",
            false,
        ),
        (bare(400, &[]), false, true, "expired", false),
        (bare(400, &[]), false, false, "refused", false),
        (
            error(503, "NotImplemented", &[], ""),
            true,
            false,
            "throttled",
            false,
        ),
    ] {
        let request = AnsweredRequest {
            if_match,
            signing_region: "us-east-1",
            credentials: has_token.then_some(&credentials),
            proxy_authorization: None,
            now_ms: NOW_MS,
        };
        let got = receive(&[&bytes], false, &asked, &request);
        assert_eq!(got.name(), outcome, "{}", String::from_utf8_lossy(&bytes));
        let answer = got.answer().expect("an error answer");
        assert_eq!(
            answer.if_match_refused,
            refused,
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn what_the_store_says_is_handed_on() {
    let fields = [
        ("x-amz-request-id", "H1"),
        ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    let asked = Asked {
        offset: 0,
        length: SIZE,
        object_size: SIZE,
        etag: None,
    };
    let request = AnsweredRequest {
        if_match: false,
        signing_region: "us-east-1",
        credentials: None,
        proxy_authorization: None,
        now_ms: NOW_MS,
    };
    let got = receive(
        &[&error(403, "RequestTimeTooSkewed", &fields, "")],
        false,
        &asked,
        &request,
    );
    let answer = got.answer().expect("an error answer");
    assert_eq!(answer.message.as_deref(), Some("as told"));
    assert_eq!(answer.request_id.as_deref(), Some("H1"));
    assert_eq!(answer.date.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(
        answer.body_start.starts_with("<?xml version"),
        "{}",
        answer.body_start
    );
    let without = receive(&[&error(404, "NoSuchKey", &[], "")], false, &asked, &request);
    assert_eq!(
        without.answer().and_then(|answer| answer.request_id.as_deref()),
        Some("R1")
    );
}

#[test]
fn no_more_of_a_body_is_looked_at_than_is_kept() {
    let (head, _) = parse_head(b"HTTP/1.1 400 X\r\n\r\n", 1)
        .expect("a head")
        .expect("a whole head");
    let request = AnsweredRequest {
        if_match: false,
        signing_region: "us-east-1",
        credentials: None,
        proxy_authorization: None,
        now_ms: NOW_MS,
    };
    let code = "<Code>SlowDown</Code>";
    for (before, s3_code) in [
        (ERROR_BODY_KEPT_BYTES - code.len(), Some("SlowDown")),
        (ERROR_BODY_KEPT_BYTES, None),
    ] {
        let body = format!("{}{code}", " ".repeat(before));
        let answer = classify_answer(400, &head, body.as_bytes(), &request);
        assert_eq!(answer.s3_code.as_deref(), s3_code);
    }
}
