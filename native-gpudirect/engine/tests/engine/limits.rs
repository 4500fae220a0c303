//! The limits of an attempt.

use crate::kit::{Driver, ETAG, Object, SHORT, Store, answer, body_of, options_for, until};
use os2g_engine::Limits;

const LENGTH: usize = 100_000;

fn body() -> Vec<u8> {
    body_of(LENGTH)
}

fn objects() -> [Object; 1] {
    [Object {
        key: "k",
        size: LENGTH as u64,
        etag: Some(ETAG),
    }]
}

fn head_and_half() -> Vec<u8> {
    answer(
        200,
        &[("ETag", ETAG), ("Content-Length", "100000")],
        &body()[..LENGTH / 2],
    )
}

#[test]
fn each_limit_ends_in_a_class_of_its_own_and_the_socket_is_gone() {
    type Set = fn(&mut Limits);
    let rows: [(&str, Vec<u8>, Set); 4] = [
        ("timeout_first_byte", Vec::new(), |limits| {
            limits.first_byte = SHORT
        }),
        ("timeout_idle", head_and_half(), |limits| limits.idle = SHORT),
        (
            "timeout_idle",
            answer(500, &[("Content-Length", "9")], &[]),
            |limits| limits.idle = SHORT,
        ),
        ("timeout_total", head_and_half(), |limits| {
            limits.total = Some(SHORT)
        }),
    ];
    for (outcome, bytes, set) in rows {
        let store = Store::start(move |_, connection| {
            let _ = connection.write_all(&bytes);
        });
        let mut options = options_for(store.address);
        set(&mut options.limits);
        let mut driver = Driver::start(options, &objects());
        let (got, _) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, outcome, "{}", got.sentence());
        assert!(
            got.sentence()
                .ends_with(&format!("({} bytes had come)", got.bytes)),
            "{}",
            got.sentence()
        );
        until("no socket", || driver.engine.sockets() == 0 && store.open() == 0);
    }
}

#[test]
fn a_tls_server_that_never_shakes_hands_is_past_the_connect_limit() {
    let store = Store::start(|_, _| {});
    let mut options = options_for(store.address);
    options.tls = true;
    options.ca_pem = Some(
        rcgen::generate_simple_self_signed(["localhost".to_owned()])
            .unwrap()
            .cert
            .pem(),
    );
    options.limits.connect = SHORT;
    let mut driver = Driver::start(options, &objects());
    assert_eq!(driver.outcome(0, 0, 10), "timeout_connect");
    until("no socket", || driver.engine.sockets() == 0 && store.open() == 0);
}
