//! What the store answers, and the class that the attempt ends in. After each answer the next GET works.

use crate::answer_rows::{LENGTH, Row, body};
use crate::error_rows::{error_rows, head_rows};
use crate::framing_rows::framing_rows;
use crate::kit::{Driver, ETAG, Object, SHORT, Store, answer, object_answer, options_for};

fn objects() -> [Object; 1] {
    [Object {
        key: "k",
        size: LENGTH as u64,
        etag: Some(ETAG),
    }]
}

fn run(rows: Vec<Row>) {
    for Row {
        name,
        bytes,
        closes,
        outcome,
        says,
        connections,
    } in rows
    {
        let all = body();
        let store = Store::start(move |request, connection| {
            if request.number > 0 {
                let _ = connection.write_all(&object_answer(request, &all, ETAG));
                return;
            }
            let _ = connection.write_all(&bytes);
            if closes {
                connection.end();
            }
        });
        let mut options = options_for(store.address);
        if outcome == "timeout_idle" {
            options.limits.idle = SHORT;
        }
        let mut driver = Driver::start(options, &objects());
        let (got, target) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, outcome, "{name}: {}", got.sentence());
        assert!(got.sentence().contains(says), "{name}: {}", got.sentence());
        assert_eq!(got.what == "fetched", got.failure.is_none(), "{name}");
        if outcome == "fetched" {
            assert!(target == body(), "{name}");
        }
        let (next, target) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(next.what, "fetched", "{name}, the next: {}", next.sentence());
        assert!(target == body(), "{name}");
        assert_eq!(store.connections(), connections, "{name}: connections");
    }
}

#[test]
fn framing_and_length() {
    run(framing_rows());
}

#[test]
fn heads() {
    run(head_rows());
}

#[test]
fn errors() {
    run(error_rows());
}

#[test]
fn ranges() {
    let part = |status, headers: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> = [("ETag", ETAG), ("Content-Length", "100")]
            .iter()
            .chain(headers)
            .copied()
            .collect();
        answer(status, &all, &body()[50..150])
    };
    let rows = [
        (
            part(206, &[("Content-Range", "bytes 50-149/5000")]),
            "fetched",
            "",
        ),
        (part(206, &[("Content-Range", "bytes 50-149/*")]), "fetched", ""),
        (
            part(206, &[("Content-Range", "bytes 51-150/5000")]),
            "range",
            "expected bytes 50-149/5000",
        ),
        (
            part(206, &[("Content-Range", "bytes 50-149/6000")]),
            "changed",
            "6000 bytes long",
        ),
        (part(206, &[("Content-Range", "nonsense")]), "range", "nonsense"),
        (part(206, &[]), "range", "without Content-Range"),
        (
            answer(200, &[("ETag", ETAG), ("Content-Length", "5000")], &body()),
            "range",
            "ignored the range",
        ),
    ];
    for (bytes, outcome, says) in rows {
        let store = Store::start(move |_, connection| {
            let _ = connection.write_all(&bytes);
        });
        let mut driver = Driver::start(options_for(store.address), &objects());
        let (got, target) = driver.get(0, 50, 100);
        assert_eq!(got.what, outcome, "{}", got.sentence());
        assert!(got.sentence().contains(says), "{}", got.sentence());
        assert!(outcome != "fetched" || target == body()[50..150]);
    }
}
