//! The plain way, and submissions that cannot be.

use crate::kit::{Driver, Object, Store, object_answer, options_for};
use os2g_engine::{GET, Submission};

const ETAG: &str = "\"e1\"";

fn body() -> Vec<u8> {
    (0..300_000_u32)
        .map(|n| (n.wrapping_mul(7919) >> 3) as u8)
        .collect()
}

fn store() -> Store {
    Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body(), ETAG));
    })
}

fn object() -> Object {
    Object {
        key: "k",
        size: 300_000,
        etag: Some(ETAG),
    }
}

#[test]
fn whole_objects_and_ranges_come_byte_for_byte_on_one_connection() {
    let store = store();
    let mut driver = Driver::start(options_for(store.address), &[object()]);
    let rows = [
        (0, 300_000),
        (0, 1),
        (299_999, 1),
        (5, 100),
        (100, 1024),
        (0, 110_000),
        (77, 299_900),
        (1, 2),
    ];
    for (offset, length) in rows {
        let (got, target) = driver.get(0, offset, length);
        assert_eq!(got.what, "fetched", "{}", got.sentence());
        assert_eq!(got.bytes, length as f64);
        assert!(
            target == body()[offset as usize..(offset + length) as usize],
            "{offset} {length}"
        );
    }
    assert_eq!(
        (driver.first_bytes, store.connections(), driver.engine.sockets()),
        (8, 1, 1)
    );
    assert_eq!(driver.engine.checksums(), (0, 8));
    let requests = store.requests();
    assert_eq!(requests[0].header("range"), None);
    assert_eq!(requests[1].header("range"), Some("bytes=0-0"));
    assert_eq!(requests[1].header("if-match"), Some(ETAG));
    assert_eq!(requests[1].target, "/b/k");
    assert!(
        requests[1]
            .header("authorization")
            .unwrap()
            .starts_with("AWS4-HMAC-SHA256 ")
    );
}

#[test]
fn submissions_that_cannot_be_end_in_internal() {
    let store = store();
    let mut driver = Driver::start(options_for(store.address), &[object()]);
    let right = driver.get_record(1, 1, 0, 0, 10, 0);
    let memory = driver.memory.len() as f64;
    let rows = [
        Submission { kind: 7, ..right },
        Submission { region: 1, ..right },
        Submission {
            region: u32::MAX,
            ..right
        },
        Submission { row: 1.0, ..right },
        Submission { row: -1.0, ..right },
        Submission { row: 0.5, ..right },
        Submission {
            row: f64::NAN,
            ..right
        },
        Submission {
            row: f64::INFINITY,
            ..right
        },
        Submission {
            offset: -1.0,
            ..right
        },
        Submission {
            offset: 300_000.0,
            ..right
        },
        Submission {
            offset: f64::NAN,
            ..right
        },
        Submission { offset: 1.5, ..right },
        Submission { length: 0.0, ..right },
        Submission {
            length: 300_001.0,
            ..right
        },
        Submission {
            length: f64::INFINITY,
            ..right
        },
        Submission {
            target: memory,
            ..right
        },
        Submission {
            target: memory - 9.0,
            ..right
        },
        Submission {
            target: -1.0,
            ..right
        },
        Submission {
            target: 1e300,
            ..right
        },
        Submission {
            target: 9_007_199_254_740_992.0,
            ..right
        },
        Submission {
            target: f64::NAN,
            ..right
        },
    ];
    for (n, record) in rows.iter().enumerate() {
        driver.engine.submit(&[*record]);
        let got = driver.ended(n + 1)[n].clone();
        assert_eq!(got.what, "internal", "{record:?}: {}", got.sentence());
        assert!(!got.sentence().is_empty());
    }
    assert_eq!(store.connections(), 0);
    driver.engine.submit(&[right]);
    assert_eq!(driver.ended(rows.len() + 1)[rows.len()].what, "fetched");
}

#[test]
fn more_attempts_than_connections_are_refused_and_an_attempt_runs_once() {
    let store = Store::start(|_, _| {});
    let mut options = options_for(store.address);
    options.max_connections = 2;
    let mut driver = Driver::start(options, &[object()]);
    for id in 0..3 {
        driver.submit_get(id, 1, 0, 0, 10, id as usize * 10);
    }
    driver.submit_get(0, 1, 0, 0, 10, 100);
    let got = driver.ended(2);
    assert_eq!([got[0].id, got[1].id], [2, 0]);
    assert_eq!(got[0].sentence(), "more than 2 attempts at one time");
    assert_eq!(got[1].sentence(), "attempt 1 of request 0 runs already");
    driver.cancel(0, 1);
    driver.cancel(1, 1);
    driver.cancel(1, 1);
    driver.cancel(9, 1);
    let got = driver.ended(4);
    assert_eq!([got[2].what, got[3].what], ["cancelled"; 2]);
}

#[test]
fn many_at_once_over_several_threads_never_open_more_than_allowed() {
    let store = store();
    let mut options = options_for(store.address);
    (options.threads, options.max_connections) = (3, 4);
    let mut driver = Driver::start(options, &[object()]);
    let mut ended = 0;
    for round in 0..50_u32 {
        let records: Vec<Submission> = (0..4)
            .map(|n| {
                driver.get_record(
                    (round / 2) * 7 + n,
                    round,
                    0,
                    u64::from(n),
                    1000,
                    n as usize * 2000,
                )
            })
            .collect();
        assert!(records.iter().all(|record| record.kind == GET));
        driver.engine.submit(&records);
        ended += 4;
        driver.ended(ended);
        assert!(driver.engine.sockets() <= 4);
        for n in 0..4 {
            assert!(driver.memory.read(n * 2000, 1000) == body()[n..n + 1000]);
            driver.memory.reset(n * 2000, 1000);
        }
    }
    assert!(driver.outcomes.iter().all(|outcome| outcome.what == "fetched"));
}

#[test]
fn one_wake_for_each_time_it_was_asked_for() {
    let store = store();
    let mut driver = Driver::start(options_for(store.address), &[object()]);
    driver.submit_get(1, 1, 0, 0, 10, 0);
    driver.ended(1); // which takes each wake-up that it asks for: none is on its way now
    let before = driver.wakes();
    assert!(!driver.engine.arm());
    for id in 0..8 {
        driver.submit_get(id, 2, 0, 0, 10, id as usize * 10);
    }
    crate::kit::until("a wake", || driver.wakes() > before);
    // Nobody drains: no second wake, though more completions come.
    let sum = || driver.engine.checksums().1;
    crate::kit::until("the other ends", || sum() == 9);
    assert_eq!(driver.wakes(), before + 1);
}

#[test]
fn after_close_nothing_is_said_or_written_and_the_memory_is_free() {
    let store = Store::start(|_, connection| {
        let head = crate::kit::answer(200, &[("ETag", ETAG), ("Content-Length", "300000")], &[]);
        let _ = connection.write_all(&head);
        while connection.write_all(&[7; 100]).is_ok() {}
    });
    let driver = Driver::start(options_for(store.address), &[object()]);
    for id in 0..4 {
        driver.submit_get(id, 1, 0, 0, 300_000, id as usize * 400_000);
    }
    crate::kit::until("connections", || store.connections() == 4);
    let Driver { engine, memory, .. } = driver;
    let _ = engine.arm();
    engine.close();
    let after = memory.read(0, memory.len());
    assert_eq!(std::sync::Arc::strong_count(&memory), 1);
    crate::kit::until("the store to see it", || store.open() == 0);
    assert!(memory.read(0, memory.len()) == after);
}
