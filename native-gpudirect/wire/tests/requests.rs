//! What a request has in it, and what is not sent at all.

#![allow(clippy::expect_used)] // helpers of tests: a failure is what it is for

mod support;

use os2g_wire::{Class, Get, RequestWriter, Target};
use support::requests::{MAY_2013_MS, WHOLE, credentials, target, writer, written};

#[test]
fn a_request_has_the_fields_that_its_case_asks_for_and_no_others() {
    let part = Get {
        offset: 5,
        length: 5,
        if_match: Some(b"\"e1\""),
        ..WHOLE
    };
    assert_eq!(
        written(&mut writer(target()), &part, None, 0),
        "GET /bucket/k HTTP/1.1\r\nhost: h:9000\r\nrange: bytes=5-9\r\naccept-encoding: identity\r\n\
         user-agent: os2g\r\nif-match: \"e1\"\r\n\r\n"
    );
    let bare = Get {
        if_match: Some(b"e1"),
        ..WHOLE
    };
    let mut through = writer(Target {
        requester_pays: true,
        ask_checksum: true,
        absolute_prefix: Some("http://h:9000".into()),
        proxy_authorization: Some("Basic QQ==".into()),
        ..target()
    });
    assert_eq!(
        written(&mut through, &bare, None, 0),
        "GET http://h:9000/bucket/k HTTP/1.1\r\nhost: h:9000\r\nx-amz-checksum-mode: ENABLED\r\n\
         x-amz-request-payer: requester\r\naccept-encoding: identity\r\nuser-agent: os2g\r\nif-match: \"e1\"\r\n\
         proxy-authorization: Basic QQ==\r\n\r\n"
    );
    let signed = written(
        &mut writer(target()),
        &WHOLE,
        Some(&credentials(Some("TOKEN"))),
        MAY_2013_MS,
    );
    let names: Vec<&str> = signed
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(
        names,
        [
            "host",
            "x-amz-content-sha256",
            "x-amz-date",
            "x-amz-security-token",
            "accept-encoding",
            "user-agent",
            "authorization"
        ]
    );
    let empty_token = written(&mut writer(target()), &WHOLE, Some(&credentials(Some(""))), 0);
    assert!(!empty_token.contains("security-token"), "{empty_token}");
    let latin = Get {
        if_match: Some("é".as_bytes()),
        ..WHOLE
    };
    let mut out = Vec::new();
    writer(target())
        .write(&mut out, &latin, None, 0)
        .expect("one byte a character");
    assert!(out.windows(13).any(|window| window == b"if-match: \"\xe9\""));
}

#[test]
fn nothing_of_one_request_stays_for_the_next() {
    let part = Get {
        offset: 5,
        length: 5,
        if_match: Some(b"e1"),
        ..WHOLE
    };
    let mut writer = writer(target());
    let first = written(&mut writer, &WHOLE, None, 0);
    assert!(written(&mut writer, &part, None, 0).contains("if-match"));
    assert_eq!(written(&mut writer, &WHOLE, None, 0), first);
}

#[test]
fn what_would_break_a_request_is_not_written() {
    let refused = [
        (Get { key: b"", ..WHOLE }, Class::Refused),
        (
            Get {
                key: b"\xff",
                ..WHOLE
            },
            Class::Refused,
        ),
        (
            Get {
                if_match: Some(b"a\r\nhost: evil"),
                ..WHOLE
            },
            Class::Refused,
        ),
        (
            Get {
                if_match: Some("\u{1f600}".as_bytes()),
                ..WHOLE
            },
            Class::Refused,
        ),
        (
            Get {
                if_match: Some(b"a\x7fb"),
                ..WHOLE
            },
            Class::Refused,
        ),
        (
            Get {
                if_match: Some(b"\xff"),
                ..WHOLE
            },
            Class::Refused,
        ),
        (Get { length: 0, ..WHOLE }, Class::Internal),
        (Get { offset: 1, ..WHOLE }, Class::Internal),
        (
            Get {
                offset: u64::MAX,
                ..WHOLE
            },
            Class::Internal,
        ),
    ];
    let mut out = b"before".to_vec();
    for (get, class) in refused {
        let verdict = writer(target())
            .write(&mut out, &get, None, 0)
            .expect_err("no request");
        assert_eq!(verdict.class, class, "{get:?}");
    }
    let mut who = credentials(Some("a\nb"));
    let mut writer = writer(target());
    assert!(writer.write(&mut out, &WHOLE, Some(&who), 0).is_err());
    who.session_token = None;
    who.access_key_id = "a b".into();
    assert!(writer.write(&mut out, &WHOLE, Some(&who), 0).is_err());
    assert_eq!(out, b"before");

    for bad in [
        Target {
            host: "h\r\nx: y".into(),
            ..target()
        },
        Target {
            host: "h h".into(),
            ..target()
        },
        Target {
            path_prefix: "/a b".into(),
            ..target()
        },
        Target {
            signing_region: "é".into(),
            ..target()
        },
        Target {
            signing_service: "\0".into(),
            ..target()
        },
        Target {
            absolute_prefix: Some("http://h\t".into()),
            ..target()
        },
        Target {
            proxy_authorization: Some("a\nb".into()),
            ..target()
        },
    ] {
        assert!(RequestWriter::new(bad).is_err());
    }
}
