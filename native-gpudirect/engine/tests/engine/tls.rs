//! TLS with a private authority.

use std::io::Read as _;

use crate::kit::{
    Authority, Connection, Driver, ETAG, Object, Request, Store, answer, body_of, object_answer, options_for,
    self_signed, until,
};
use os2g_engine::{Engine, EngineOptions, ObjectTable, StartError};

const LENGTH: usize = 300_000;

fn objects() -> [Object; 1] {
    [Object {
        key: "k",
        size: LENGTH as u64,
        etag: Some(ETAG),
    }]
}

fn answer_right(request: &Request, connection: &mut dyn Connection) {
    let _ = connection.write_all(&object_answer(request, &body_of(LENGTH), ETAG));
    let _ = connection.flush();
}

fn store(authority: &Authority, names: &[&str]) -> Store {
    Store::start_at("127.0.0.1:0", authority.server(names), answer_right)
}

fn options(store: &Store, ca_pem: Option<String>) -> EngineOptions {
    let mut options = options_for(store.address);
    (options.tls, options.ca_pem) = (true, ca_pem);
    options
}

#[test]
fn trusted_when_the_authority_is_given_refused_when_not() {
    let authority = Authority::new();
    let other = Authority::new();
    let here = ["127.0.0.1", "localhost"];
    let rows = [
        (&here[..], "127.0.0.1", authority.pem(), "fetched", ""),
        (&here[1..], "localhost", authority.pem(), "fetched", ""),
        (
            &here[..],
            "127.0.0.1",
            other.pem() + &authority.pem(),
            "fetched",
            "",
        ),
        (
            &here[..],
            "127.0.0.1",
            other.pem(),
            "tls",
            "TLS failed: the store's certificate is signed by nobody that is trusted",
        ),
        (
            &here[1..],
            "127.0.0.1",
            authority.pem(),
            "tls",
            "TLS failed: the store's certificate is for another host",
        ),
    ];
    for (names, hostname, ca_pem, outcome, says) in rows {
        let store = store(&authority, names);
        let mut options = options(&store, Some(ca_pem));
        options.hostname = hostname.to_owned();
        let mut driver = Driver::start(options, &objects());
        for (offset, length) in [(0, LENGTH), (1, 1), (777, 200_000)] {
            let (got, target) = driver.get(0, offset as u64, length as u64);
            assert_eq!(got.what, outcome, "{hostname}: {}", got.sentence());
            assert!(got.sentence().starts_with(says), "{}", got.sentence());
            assert!(outcome != "fetched" || target == body_of(LENGTH)[offset..offset + length]);
        }
        if outcome == "fetched" {
            assert_eq!(store.connections(), 1);
            store.hang_up();
        }
        until("no socket", || driver.engine.sockets() == 0);
    }
}

/// What `openssl req -x509` makes, given as the bundle: trusted as it is, its name and dates looked at all the same.
#[test]
fn a_certificate_that_itself_stands_in_the_bundle() {
    let now = (2020, 2120);
    type Row = (&'static str, bool, (i32, i32), &'static str, &'static str);
    let rows: [Row; 7] = [
        ("127.0.0.1", true, now, "fetched", ""),
        ("127.0.0.1", false, now, "fetched", ""),
        ("localhost", true, now, "tls", "is for another host"),
        ("localhost", false, now, "tls", "is for another host"),
        ("127.0.0.1", true, (2020, 2021), "tls", "has expired"),
        ("127.0.0.1", false, (2020, 2021), "tls", "has expired"),
        ("127.0.0.1", true, (2119, 2120), "tls", "is not valid yet"),
    ];
    for (name, is_ca, years, outcome, says) in rows {
        let (pem, server) = self_signed(&[name], is_ca, years);
        let store = Store::start_at("127.0.0.1:0", server, answer_right);
        let mut driver = Driver::start(options(&store, Some(pem)), &objects());
        let (got, _) = driver.get(0, 0, 1000);
        assert_eq!(got.what, outcome, "{name} {is_ca} {years:?}: {}", got.sentence());
        assert!(
            got.sentence().contains(says),
            "{name} {is_ca} {years:?}: {}",
            got.sentence()
        );

        let other = self_signed(&[name], is_ca, now).0;
        let mut driver = Driver::start(options(&store, Some(other)), &objects());
        assert_eq!(
            driver.outcome(0, 0, 1000),
            "tls",
            "another of the same name is not the one"
        );
    }
}

#[test]
fn without_a_bundle_the_systems_authorities_count_and_not_this_one() {
    let store = store(&Authority::new(), &["127.0.0.1"]);
    let options = options(&store, None);
    if matches!(try_start(options.clone()), Err(StartError::Certificates(_))) {
        return; // this system trusts nobody, and that was an error
    }
    let mut driver = Driver::start(options, &objects());
    assert_eq!(driver.outcome(0, 0, 10), "tls");
}

#[test]
fn a_port_that_speaks_http_and_one_that_hangs_up() {
    let authority = Authority::new();
    let plain = Store::start_at(
        "127.0.0.1:0",
        |mut tcp| {
            let _ = tcp.read(&mut [0; 512]);
            let _ =
                std::io::Write::write_all(&mut tcp, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            Some(Box::new(tcp))
        },
        |_, _| {},
    );
    let mut driver = Driver::start(options(&plain, Some(authority.pem())), &objects());
    let (got, _) = driver.get(0, 0, 10);
    assert_eq!(
        (got.what, got.sentence().as_str()),
        ("tls", "TLS failed: this port speaks http, not https")
    );

    let silent = Store::start_at("127.0.0.1:0", |_| None, |_, _| {});
    let mut driver = Driver::start(options(&silent, Some(authority.pem())), &objects());
    let (got, _) = driver.get(0, 0, 10);
    assert_eq!(got.what, "connect", "{}", got.sentence());
}

/// Only TLS's own end (close_notify) ends a body that has no length: whoever cuts the connection must not shorten an object.
#[test]
fn where_a_body_ends_with_its_connection() {
    type End = fn(&mut dyn Connection);
    let (cut, end): (End, End) = (|it| it.cut(), |it| it.end());
    let length = LENGTH.to_string();
    let said = [("ETag", ETAG), ("Content-Length", &*length)];
    let unsaid = [("ETag", ETAG)];
    let rows = [
        (&said[..], LENGTH / 2, cut, "reset"),
        (&said[..], LENGTH / 2, end, "reset"),
        (&said[..], LENGTH, cut, "fetched"),
        (&unsaid[..], LENGTH, end, "fetched"),
        (&unsaid[..], LENGTH / 2, end, "short"),
        (&unsaid[..], LENGTH, cut, "reset"),
        (&unsaid[..], LENGTH / 2, cut, "reset"),
    ];
    let authority = Authority::new();
    for (row, (headers, sent, ends, outcome)) in rows.into_iter().enumerate() {
        let bytes = answer(200, headers, &body_of(LENGTH)[..sent]);
        let store = Store::start_at(
            "127.0.0.1:0",
            authority.server(&["127.0.0.1"]),
            move |_, connection| {
                let _ = connection.write_all(&bytes);
                let _ = connection.flush();
                ends(connection);
            },
        );
        let mut driver = Driver::start(options(&store, Some(authority.pem())), &objects());
        let (got, target) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, outcome, "row {row}: {}", got.sentence());
        assert!(outcome != "fetched" || target == body_of(LENGTH), "row {row}");
    }
}

struct NoTable;

impl ObjectTable for NoTable {
    fn rows(&self) -> u64 {
        0
    }
    fn key(&self, _row: u64) -> &[u8] {
        b""
    }
    fn etag(&self, _row: u64) -> Option<&[u8]> {
        None
    }
    fn object_size(&self, _row: u64) -> u64 {
        0
    }
}

fn try_start(options: EngineOptions) -> Result<Engine, StartError> {
    Engine::start(options, std::sync::Arc::new(NoTable), Box::new(|| {}))
}

#[test]
fn a_bundle_that_is_none_is_an_error_at_the_start() {
    let store = Store::start(|_, _| {});
    let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in ["", "nonsense", bad, "-----BEGIN CERTIFICATE-----\n***\n"] {
        let started = try_start(options(&store, Some(pem.to_owned())));
        assert!(matches!(started, Err(StartError::Certificates(_))), "{pem:?}");
    }
}

#[test]
fn options_that_cannot_be_are_errors_at_the_start() {
    let store = Store::start(|_, _| {});
    let given = options_for(store.address);
    type Change = fn(&mut EngineOptions);
    let rows: [(&str, Change); 6] = [
        ("threads", |options| options.threads = 0),
        ("max_connections", |options| options.max_connections = 0),
        ("limits", |options| {
            options.limits.idle = std::time::Duration::ZERO
        }),
        ("limits", |options| {
            options.limits.total = Some(std::time::Duration::ZERO)
        }),
        ("store", |options| options.host = "a b".to_owned()),
        ("proxy", |options| {
            options.proxy = Some(os2g_engine::Proxy {
                url: "socks5://x:1".into(),
                no_proxy: String::new(),
            })
        }),
    ];
    for (wanted, change) in rows {
        let mut options = given.clone();
        change(&mut options);
        match try_start(options) {
            Err(StartError::Option(name, _)) => assert_eq!(name, wanted),
            other => panic!("{wanted}: {:?}", other.err()),
        }
    }
}
