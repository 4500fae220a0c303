//! What a failure says, ETags, keys and checksums.

use std::sync::Arc;

use crate::kit::{
    Connection, Driver, ETAG, Object, Request, Store, answer, body_of, error_xml, object_answer, options_for,
    until,
};
use os2g_engine::{Credentials, Failure, Verify};

const LENGTH: usize = 5000;

fn body() -> Vec<u8> {
    body_of(LENGTH)
}

fn objects() -> [Object; 2] {
    let size = LENGTH as u64;
    [
        Object {
            key: "k",
            size,
            etag: Some(ETAG),
        },
        Object {
            key: "unknown",
            size,
            etag: None,
        },
    ]
}

fn details_of(answer_bytes: Vec<u8>) -> Failure {
    let store = Store::start(move |_, connection| {
        let _ = connection.write_all(&answer_bytes);
    });
    let mut driver = Driver::start(options_for(store.address), &objects());
    let (got, _) = driver.get(0, 0, LENGTH as u64);
    assert_eq!(u32::from(got.failure.clone().unwrap().status), got.status);
    let failure = got.failure.unwrap();
    assert_eq!(failure.retry_after_ns as f64, got.retry_after_ns);
    failure
}

#[test]
fn a_failure_says_what_the_store_said_but_no_secret() {
    let xml = "<Error><Code>SlowDown</Code><Message>not so fast, secret-of-the-test</Message></Error>";
    let headers = [
        ("Content-Length", &*xml.len().to_string()),
        ("Retry-After", "3"),
        ("x-amz-request-id", "R7"),
        ("x-amz-bucket-region", "eu-west-1"),
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ];
    let failure = details_of(answer(503, &headers, xml.as_bytes()));
    assert_eq!((failure.what, failure.status), (None, 503));
    assert_eq!(failure.s3_code.as_deref(), Some("SlowDown"));
    assert_eq!(failure.message.as_deref(), Some("not so fast, [hidden]"));
    assert_eq!(failure.request_id.as_deref(), Some("R7"));
    assert_eq!(failure.region.as_deref(), Some("eu-west-1"));
    assert_eq!(failure.date.as_deref(), Some("Thu, 01 Jan 2026 00:00:00 GMT"));
    assert_eq!(
        (failure.retry_after_ns, failure.credentials, failure.anonymous),
        (3_000_000_000, 1, false)
    );
    assert!(failure.body_start.unwrap().starts_with("<Error>") && failure.at_ms > 0.0);

    let failure = details_of(answer(
        200,
        &[("ETag", "\"e2\""), ("Content-Length", "5000")],
        &[],
    ));
    assert_eq!(failure.expected_etag.as_deref(), Some(ETAG));
    assert_eq!(failure.actual_etag.as_deref(), Some("\"e2\""));
}

/// A store that knows If-Match, with the object as it is now.
fn honest(request: &Request, connection: &mut dyn Connection, etag: &str) {
    let bytes = match request.header("if-match") {
        Some(wanted) if wanted != etag => answer(412, &[("Content-Length", "0")], &[]),
        _ => object_answer(request, &body(), etag),
    };
    let _ = connection.write_all(&bytes);
}

#[test]
fn a_replaced_object_is_asked_for_once_more_to_name_its_etag() {
    let store = Store::start(|request, connection| honest(request, connection, "\"e2\""));
    let mut driver = Driver::start(options_for(store.address), &objects());
    let (got, _) = driver.get(0, 0, 100);
    assert_eq!(got.what, "changed");
    assert_eq!(got.failure.unwrap().actual_etag.as_deref(), Some("\"e2\""));
    assert_eq!(
        (store.requests().len(), store.connections(), driver.first_bytes),
        (2, 1, 0)
    );
    assert!(driver.engine.notices().is_empty());
}

#[test]
fn a_store_that_refuses_if_match_is_asked_without_it() {
    let store = Store::start(|request, connection| {
        if request.header("if-match").is_some() {
            let xml = error_xml("NotImplemented");
            let _ = connection.write_all(&answer(
                501,
                &[("Content-Length", &xml.len().to_string())],
                xml.as_bytes(),
            ));
        } else {
            honest(
                request,
                connection,
                if request.number < 3 { ETAG } else { "\"e2\"" },
            );
        }
    });
    let mut driver = Driver::start(options_for(store.address), &objects());
    let (first, _) = driver.get(0, 0, 100);
    assert_eq!(first.what, "server");
    assert!(first.failure.unwrap().if_match_refused);
    assert_eq!(
        [
            driver.outcome(0, 0, 100),
            driver.outcome(0, 0, 100),
            driver.outcome(0, 0, 100)
        ],
        ["fetched", "fetched", "changed"]
    );
    assert_eq!(driver.engine.notices().len(), 1);
    assert!(driver.engine.notices().is_empty());
}

#[test]
fn parts_of_a_sample_without_known_etag_must_be_of_one_version() {
    let store = Store::start(|request, connection| {
        honest(
            request,
            connection,
            if request.number == 0 { ETAG } else { "\"e2\"" },
        );
    });
    let mut driver = Driver::start(options_for(store.address), &objects());
    assert_eq!(driver.outcome(1, 0, 100), "fetched");
    let (got, _) = driver.get(1, 100, 100);
    assert_eq!(got.what, "changed", "{}", got.sentence());
    assert_eq!(store.requests()[1].header("if-match"), Some(ETAG));
    assert_eq!(
        driver.outcome(1, 0, LENGTH as u64),
        "fetched",
        "the whole object is one answer"
    );
}

#[test]
fn keys_that_cannot_be_addressed_are_not_sent() {
    let store = Store::start(|request, connection| honest(request, connection, ETAG));
    let object = |key, etag| Object {
        key,
        size: LENGTH as u64,
        etag,
    };
    let objects = [
        object("", Some(ETAG)),
        object("a/../b", None),
        object("a/../b", Some(ETAG)),
        object("a b+c%20", None),
    ];
    let mut driver = Driver::start(options_for(store.address), &objects);
    let got: Vec<_> = (0..4).map(|row| driver.outcome(row, 0, 10)).collect();
    assert_eq!(got, ["refused", "refused", "fetched", "fetched"]);
    let targets: Vec<_> = store
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    assert_eq!(targets, ["/b/a/../b", "/b/a%20b%2Bc%2520"]);
}

#[test]
fn checksums_of_whole_objects_are_compared() {
    use base64::Engine as _;
    let crc = {
        let mut head = Vec::new();
        head.extend_from_slice(b"HTTP/1.1 200 OK\r\nx-amz-checksum-crc32: AAAAAA==\r\n\r\n");
        let (head, _) = os2g_wire::parse_head(&head, 10).unwrap().unwrap();
        let mut sum = os2g_wire::RunningChecksum::of(&head).unwrap();
        sum.update(&body());
        sum.digest()
    };
    assert_eq!(
        base64::engine::general_purpose::STANDARD
            .decode(&crc)
            .unwrap()
            .len(),
        4
    );
    for (value, outcome, counts) in [
        (crc.as_str(), "fetched", (1, 1)),
        ("AAAAAA==", "checksum", (1, 1)),
        ("AAAAAA==-3", "fetched", (0, 2)),
    ] {
        let value = value.to_owned();
        let store = Store::start(move |request, connection| {
            let mut bytes = object_answer(request, &body(), ETAG);
            let at = bytes.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
            bytes.splice(at..at, format!("x-amz-checksum-crc32: {value}\r\n").into_bytes());
            let _ = connection.write_all(&bytes);
        });
        let mut options = options_for(store.address);
        options.verify = Verify::Checksum;
        let mut driver = Driver::start(options, &objects());
        let (got, _) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, outcome, "{}", got.sentence());
        assert_eq!(
            driver.outcome(0, 10, 100),
            "fetched",
            "a range is not held against it"
        );
        assert_eq!(driver.engine.checksums(), counts);
        assert_eq!(store.requests()[0].header("x-amz-checksum-mode"), Some("ENABLED"));
    }
}

/// The clock may be wrong, and the credentials may be others by the time that an answer comes.
#[test]
fn a_request_is_of_the_credentials_and_the_clock_that_it_was_sent_with() {
    let store = Store::start(|request, connection| {
        if request.number == 1 {
            let xml = error_xml("RequestTimeTooSkewed");
            let headers = [
                ("Content-Length", &*xml.len().to_string()),
                ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ];
            let _ = connection.write_all(&answer(403, &headers, xml.as_bytes()));
        }
        // The others are never answered.
    });
    let mut options = options_for(store.address);
    options.wall_ms = Arc::new(|| 1_369_353_600_000.0); // 2013
    let mut driver = Driver::start(options, &objects());
    driver.submit_get(1, 1, 0, 0, 10, 0);
    until("the first request", || store.requests().len() == 1);
    let other = Credentials {
        access_key_id: "AKIDOTHER".to_owned(),
        secret_access_key: "another-secret".to_owned(),
        session_token: Some("a-session-token".to_owned()),
        expires_at_ms: None,
    };
    assert_eq!(driver.engine.set_credentials(Some(other)), 2);
    driver.submit_get(2, 1, 0, 0, 10, 16);
    let failure = driver.ended(1)[0].failure.clone().unwrap();
    assert_eq!((failure.credentials, failure.anonymous), (2, false));
    assert_eq!(failure.at_ms, 1_369_353_600_000.0);
    assert_eq!(failure.date.as_deref(), Some("Thu, 01 Jan 2026 00:00:00 GMT"));
    assert_eq!(driver.engine.set_credentials(None), 0);
    driver.submit_get(3, 1, 0, 0, 10, 32);
    until("the third request", || store.requests().len() == 3);

    let requests = store.requests();
    let of = |number: usize, name: &str| requests[number].header(name).unwrap_or("none").to_owned();
    let scope = "/20130524/us-east-1/s3/aws4_request, ";
    for (number, id) in [(0, "AKIDEXAMPLE"), (1, "AKIDOTHER")] {
        let wanted = format!("AWS4-HMAC-SHA256 Credential={id}{scope}");
        assert!(of(number, "authorization").starts_with(&wanted), "{number}");
        assert_eq!(of(number, "x-amz-date"), "20130524T000000Z");
    }
    let tokens = [0, 1, 2].map(|number| of(number, "x-amz-security-token"));
    assert_eq!(tokens, ["none", "a-session-token", "none"]);
    assert_eq!([of(2, "authorization"), of(2, "x-amz-date")], ["none", "none"]);
}

/// Such answers have no body whatever they say: what comes all the same is not taken for the next answer.
#[test]
fn an_answer_without_body_that_has_one() {
    for status in [204, 304] {
        let store = Store::start(move |request, connection| {
            if request.number == 0 {
                let next = object_answer(request, &body_of(LENGTH)[..100], ETAG);
                let headers = [("Content-Length", &*next.len().to_string()), ("ETag", ETAG)];
                let _ = connection.write_all(&answer(status, &headers, &next));
            } else {
                honest(request, connection, ETAG);
            }
        });
        let mut driver = Driver::start(options_for(store.address), &objects());
        assert_eq!(driver.outcome(0, 0, LENGTH as u64), "protocol", "{status}");
        let (got, target) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, "fetched", "{status}: {}", got.sentence());
        assert!(target == body());
        assert_eq!(store.connections(), 2);
    }
}
