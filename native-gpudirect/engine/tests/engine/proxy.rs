//! Proxies: a tunnel for https, the absolute form for http.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::kit::{Authority, Driver, ETAG, Object, Store, answer, body_of, object_answer, options_for};
use os2g_engine::{EngineOptions, Proxy};

const LENGTH: usize = 300_000;

fn objects() -> [Object; 1] {
    [Object {
        key: "k",
        size: LENGTH as u64,
        etag: Some(ETAG),
    }]
}

fn proxied(mut options: EngineOptions, proxy: &Store, no_proxy: &str) -> EngineOptions {
    let url = format!("http://me:pass%20word@{}", proxy.address);
    options.proxy = Some(Proxy {
        url,
        no_proxy: no_proxy.to_owned(),
    });
    options
}

#[test]
fn http_is_asked_for_in_absolute_form() {
    let proxy = Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body_of(LENGTH), ETAG));
    });
    let mut options = options_for("127.0.0.1:9".parse().unwrap());
    options.hostname = "store.invalid".to_owned();
    options.host = "store.invalid:9".to_owned();
    let mut driver = Driver::start(proxied(options, &proxy, "other.invalid"), &objects());
    let (got, target) = driver.get(0, 0, LENGTH as u64);
    assert_eq!(got.what, "fetched", "{}", got.sentence());
    assert!(target == body_of(LENGTH));
    let request = &proxy.requests()[0];
    assert_eq!(request.target, "http://store.invalid:9/b/k");
    assert_eq!(request.header("host"), Some("store.invalid:9"));
    assert_eq!(
        request.header("proxy-authorization"),
        Some("Basic bWU6cGFzcyB3b3Jk")
    );
}

/// A proxy makes a Host of its own of the address that it is asked for (RFC 9112, 3.2.2), and the signature is of ours.
#[test]
fn the_address_names_the_host_as_it_is_signed() {
    let proxy = Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body_of(LENGTH), ETAG));
    });
    let mut options = options_for("127.0.0.1:80".parse().unwrap());
    options.hostname = "store.invalid".to_owned();
    options.host = "store.invalid".to_owned();
    let mut driver = Driver::start(proxied(options, &proxy, ""), &objects());
    assert_eq!(driver.outcome(0, 0, 10), "fetched");
    let request = &proxy.requests()[0];
    assert_eq!(request.target, "http://store.invalid/b/k");
    assert_eq!(request.header("host"), Some("store.invalid"));
}

#[test]
fn a_proxy_that_echoes_the_request_does_not_get_its_password_into_a_failure() {
    let proxy = Store::start(|request, connection| {
        let said = request.header("proxy-authorization").unwrap();
        let body = format!("<Error><Code>No</Code><Message>{said}</Message></Error>");
        let headers = [
            ("Content-Length", &*body.len().to_string()),
            ("x-amz-request-id", said),
        ];
        let _ = connection.write_all(&answer(407, &headers, body.as_bytes()));
    });
    let mut options = options_for("127.0.0.1:9".parse().unwrap());
    options.hostname = "store.invalid".to_owned();
    let mut driver = Driver::start(proxied(options, &proxy, ""), &objects());
    let (got, _) = driver.get(0, 0, 10);
    let failure = got.failure.unwrap();
    assert_eq!((got.what, failure.status), ("refused", 407));
    assert_eq!(failure.message.as_deref(), Some("Basic [hidden]"));
    assert_eq!(failure.request_id.as_deref(), Some("Basic [hidden]"));
    assert!(!format!("{failure:?}").contains("bWU6"));
}

#[test]
fn hosts_that_are_exempt_are_asked_themselves() {
    let store = Store::start(|request, connection| {
        let _ = connection.write_all(&object_answer(request, &body_of(LENGTH), ETAG));
    });
    let proxy = Store::start(|_, _| {});
    let mut driver = Driver::start(
        proxied(options_for(store.address), &proxy, "127.0.0.0/8"),
        &objects(),
    );
    assert_eq!(driver.outcome(0, 0, 10), "fetched");
    assert_eq!(
        (proxy.connections(), store.requests()[0].target.as_str()),
        (0, "/b/k")
    );
}

/// Answers CONNECT, then carries bytes both ways, as a proxy does.
fn tunnel(mut client: TcpStream, opening: &str, store: Option<std::net::SocketAddr>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("CONNECT localhost:"), "{head}");
    assert!(
        head.contains("proxy-authorization: Basic bWU6cGFzcyB3b3Jk\r\n"),
        "{head}"
    );
    let _ = client.write_all(opening.as_bytes());
    let Some(store) = store else { return };
    let mut server = TcpStream::connect(store).unwrap();
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(std::net::Shutdown::Both);
    });
    let _ = std::io::copy(&mut server, &mut client);
    let _ = client.shutdown(std::net::Shutdown::Both);
}

#[test]
fn https_goes_through_a_tunnel() {
    let authority = Authority::new();
    let store = Store::start_at(
        "127.0.0.1:0",
        authority.server(&["localhost"]),
        |request, connection| {
            let _ = connection.write_all(&object_answer(request, &body_of(LENGTH), ETAG));
            let _ = connection.flush();
        },
    );
    let to = Some(store.address);
    let rows = [
        ("HTTP/1.1 200 Connection established\r\n\r\n", to, "fetched", ""),
        (
            "HTTP/1.1 100 C\r\n\r\nHTTP/1.0 200 OK\r\nx: y\r\n\r\n",
            to,
            "fetched",
            "",
        ),
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            None,
            "connect",
            "answered CONNECT with status 407",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\nhello",
            None,
            "connect",
            "it talks into the tunnel",
        ),
        ("hello\r\n", None, "connect", "not an HTTP answer to CONNECT"),
        (
            "HTTP/1.1 200",
            None,
            "connect",
            "closed the connection instead of answering",
        ),
    ];
    for (opening, to, outcome, says) in rows {
        let proxy = Store::start_at(
            "127.0.0.1:0",
            move |tcp| {
                tunnel(tcp, opening, to);
                None
            },
            |_, _| {},
        );
        let mut options = options_for(store.address);
        (options.tls, options.ca_pem) = (true, Some(authority.pem()));
        options.hostname = "localhost".to_owned();
        let mut driver = Driver::start(proxied(options, &proxy, ""), &objects());
        let (got, target) = driver.get(0, 0, LENGTH as u64);
        assert_eq!(got.what, outcome, "{opening:?}: {}", got.sentence());
        assert!(got.sentence().contains(says), "{}", got.sentence());
        assert!(outcome != "fetched" || target == body_of(LENGTH));
        assert!(!got.sentence().contains("pass"), "no secret: {}", got.sentence());
    }
}
