//! Panics of the caller's own code, which runs on the I/O threads: each request ends, and the threads live on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::kit::{Driver, ETAG, Object, Store, body_of, object_answer, options_for, until};
use os2g_engine::{Class, Engine, GET, ObjectTable, Submission};

const SIZE: u64 = 1000;

fn store() -> Store {
    Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body_of(SIZE as usize), ETAG));
    })
}

/// Row 0 is an object. The others panic: when asked for the key, the ETag or the size, and row 4 for the key once it is
/// asked for the second time, which is when the request is written.
#[derive(Default)]
struct Trapped {
    asked: AtomicU32,
}

impl ObjectTable for Trapped {
    fn rows(&self) -> u64 {
        5
    }

    fn key(&self, row: u64) -> &[u8] {
        if row == 1 {
            panic!("no key of row {row}");
        }
        if row == 4 && self.asked.fetch_add(1, Ordering::Relaxed) == 1 {
            panic!("no key any more");
        }
        b"k"
    }

    fn etag(&self, row: u64) -> Option<&[u8]> {
        if row == 2 {
            panic!("no ETag");
        }
        Some(ETAG.as_bytes())
    }

    fn object_size(&self, row: u64) -> u64 {
        if row == 3 {
            std::panic::panic_any(row);
        }
        SIZE
    }
}

#[test]
fn a_table_that_panics_ends_the_request_and_no_other() {
    let store = store();
    let mut driver = Driver::over(options_for(store.address), Arc::new(Trapped::default()));
    let prepared = "a panic while the request was prepared: ";
    let rows = [
        (1, format!("{prepared}no key of row 1")),
        (2, format!("{prepared}no ETag")),
        (3, format!("{prepared}it does not say why")),
        (4, "a panic while the request ran: no key any more".to_owned()),
    ];
    for (row, says) in rows {
        let (got, _) = driver.get(row, 0, 100);
        assert_eq!((got.what, got.sentence()), ("internal", says));
        assert_eq!(driver.outcome(0, 0, 100), "fetched", "after row {row}");
    }
    // Those that came with it, in one call.
    let records: Vec<Submission> = (0..4)
        .map(|row| driver.get_record(10 + row, 1, row, 0, 10, row as usize * 10))
        .collect();
    driver.engine.submit(&records);
    let mut got: Vec<_> = driver.ended(12)[8..]
        .iter()
        .map(|outcome| (outcome.id, outcome.what))
        .collect();
    got.sort_unstable();
    assert_eq!(
        got,
        [
            (10, "fetched"),
            (11, "internal"),
            (12, "internal"),
            (13, "internal")
        ]
    );
    until("the sockets that are kept", || driver.engine.sockets() <= 2);
}

#[test]
fn a_wall_clock_that_panics_ends_the_request() {
    let store = store();
    let mut options = options_for(store.address);
    let broken = Arc::new(AtomicU32::new(1));
    let its = Arc::clone(&broken);
    options.wall_ms = Arc::new(move || {
        assert!(its.load(Ordering::Relaxed) == 0, "the clock stands");
        1.7e12
    });
    let objects = [Object {
        key: "k",
        size: SIZE,
        etag: Some(ETAG),
    }];
    let mut driver = Driver::start(options, &objects);
    let (got, _) = driver.get(0, 0, 10);
    assert_eq!(
        (got.what, got.sentence().as_str()),
        ("internal", "a panic while the request ran: the clock stands")
    );
    broken.store(0, Ordering::Relaxed);
    assert_eq!(driver.outcome(0, 0, 10), "fetched");
}

#[test]
fn a_wake_up_that_panics_is_told_and_the_next_one_comes() {
    let store = store();
    let calls = Arc::new(AtomicU32::new(0));
    let its = Arc::clone(&calls);
    let wake = move || assert!(its.fetch_add(1, Ordering::SeqCst) > 0, "nobody is there");
    let engine = Engine::start(
        options_for(store.address),
        Arc::new(Trapped::default()),
        Box::new(wake),
    )
    .unwrap();
    // Of a region that is not there: it ends at once, with one completion.
    for id in 0..2 {
        assert!(!engine.arm());
        engine.submit(&[Submission {
            kind: GET,
            id,
            length: 1.0,
            ..Submission::default()
        }]);
        until("the wake-up", || calls.load(Ordering::SeqCst) == id + 1);
        assert_eq!(engine.poll(&mut [Default::default(); 4]), 1);
        assert_eq!(engine.failure(id).unwrap().class, Class::Internal);
    }
    assert_eq!(engine.notices(), ["the wake-up has panicked: nobody is there"]);
}
