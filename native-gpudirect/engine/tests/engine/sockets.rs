//! Connections: cut anywhere, kept, closed while idle, refused.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};

use crate::kit::{Driver, ETAG, Object, Random, Store, answer, body_of, object_answer, options_for, until};

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

fn right() -> Store {
    Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body(), ETAG));
    })
}

#[test]
fn cut_at_any_place_it_is_a_reset_and_torn_in_any_pieces_it_is_fetched() {
    let mut random = Random::seeded();
    let whole = {
        let small = &body()[..400];
        answer(200, &[("ETag", ETAG), ("Content-Length", "400")], small)
    };
    let mut plans: Vec<(Vec<usize>, Option<usize>)> = (0..whole.len()).map(|at| (vec![], Some(at))).collect();
    for _ in 0..200 {
        let pieces = (0..random.below(7))
            .map(|_| 1 + random.below(200) as usize)
            .collect();
        let cut = (random.below(2) == 0).then(|| random.below(whole.len() as u64) as usize);
        plans.push((pieces, cut));
    }
    let (its_plans, its_whole) = (plans.clone(), whole.clone());
    let store = Store::start(move |request, connection| {
        let (pieces, cut) = &its_plans[request.number];
        let bytes = &its_whole[..cut.unwrap_or(its_whole.len())];
        let mut at = 0;
        for piece in pieces.iter().chain([&bytes.len()]) {
            let end = (at + piece).min(bytes.len());
            let _ = connection.write_all(&bytes[at..end]);
            std::thread::yield_now();
            at = end;
        }
        if cut.is_some() {
            connection.end();
        }
    });
    let mut driver = Driver::start(
        options_for(store.address),
        &[Object {
            size: 400,
            ..objects()[0].clone()
        }],
    );
    for (pieces, cut) in plans {
        let (got, target) = driver.get(0, 0, 400);
        match cut {
            None => assert!(
                got.what == "fetched" && target == body()[..400],
                "{pieces:?}: {}",
                got.sentence()
            ),
            Some(at) => assert!(
                ["reset", "stale"].contains(&got.what),
                "{pieces:?} {at}: {} {}",
                got.what,
                got.sentence()
            ),
        }
    }
}

#[test]
fn a_kept_connection_closed_as_it_is_reused_is_stale_and_the_next_works() {
    let store = Store::start(|request, connection| {
        if request.on_connection == 1 {
            connection.end();
        } else {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        }
    });
    let mut driver = Driver::start(options_for(store.address), &objects());
    let got: Vec<_> = (0..3).map(|_| driver.outcome(0, 0, 1000)).collect();
    assert_eq!(got, ["fetched", "stale", "fetched"]);
    assert_eq!(store.connections(), 2);
}

#[test]
fn idle_connections_that_the_store_closes_or_talks_on_are_dropped_at_once() {
    let store = right();
    let mut driver = Driver::start(options_for(store.address), &objects());
    assert_eq!(driver.outcome(0, 0, 1000), "fetched");
    assert_eq!(driver.engine.sockets(), 1);
    store.hang_up();
    until("the socket to go", || driver.engine.sockets() == 0);
    assert_eq!(driver.outcome(0, 0, 1000), "fetched");

    let talking = Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nETag: \"e1\"\r\nContent-Length: 1000\r\n\r\n");
    });
    let mut driver = Driver::start(options_for(talking.address), &objects());
    assert_eq!(driver.outcome(0, 0, LENGTH as u64), "fetched");
    until("the socket to go", || driver.engine.sockets() == 0);
    assert_eq!(driver.outcome(0, 0, LENGTH as u64), "fetched");
}

/// An address that refuses, and the socket that keeps it from being another test's: it is bound and does not listen.
fn unheard_port() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

#[test]
fn nothing_listens() {
    let (_held, address) = unheard_port();
    let mut driver = Driver::start(options_for(address), &objects());
    let (got, _) = driver.get(0, 0, 1000);
    assert_eq!(got.what, "connect");
    assert_eq!(
        got.sentence(),
        format!("no connection: connect ECONNREFUSED {address}")
    );

    let mut options = options_for(address);
    options.hostname = "no-such-host.invalid".to_owned();
    let mut driver = Driver::start(options, &objects());
    let (got, _) = driver.get(0, 0, 1000);
    assert_eq!(got.what, "connect");
    assert!(
        got.sentence().contains("getaddrinfo no-such-host.invalid"),
        "{}",
        got.sentence()
    );
}

#[test]
fn ipv6_and_names() {
    let store = Store::start_at(
        "[::1]:0",
        |tcp| Some(Box::new(tcp)),
        |request, connection| {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        },
    );
    let mut options = options_for(store.address);
    assert_eq!(
        (options.hostname.as_str(), options.host.starts_with("[::1]:")),
        ("::1", true)
    );
    let mut driver = Driver::start(options.clone(), &objects());
    assert_eq!(driver.outcome(0, 0, 1000), "fetched");
    assert_eq!(store.requests()[0].header("host"), Some(options.host.as_str()));

    let store = right();
    options = options_for(store.address);
    options.hostname = "localhost".to_owned();
    let mut driver = Driver::start(options, &objects());
    for _ in 0..3 {
        assert_eq!(
            driver.outcome(0, 0, 1000),
            "fetched",
            "whichever address comes first"
        );
        store.hang_up();
        until("the socket to go", || driver.engine.sockets() == 0);
    }
}
