use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::options::{Proxy, StartError};

const DEFAULT_PORT: u16 = 1080; // curl's

/// A proxy to connect to.
#[derive(Clone, PartialEq)]
pub(crate) struct ProxyRoute {
    /// Without brackets.
    pub hostname: String,
    pub port: u16,
    /// Value of Proxy-Authorization.
    pub authorization: Option<String>,
}

/// The proxy for a store, or `None` where it is to be reached without.
pub(crate) fn route_to(store: &str, port: u16, proxy: &Proxy) -> Result<Option<ProxyRoute>, StartError> {
    if proxy.url.trim().is_empty() || is_exempt(store, port, &proxy.no_proxy) {
        return Ok(None);
    }
    parse(proxy.url.trim())
        .map(Some)
        .map_err(|why| StartError::Option("proxy", why))
}

fn parse(url: &str) -> Result<ProxyRoute, String> {
    let rest = match url.split_once("://") {
        None => url,
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some((scheme, _)) => return Err(format!("a proxy is reached by http://, not {scheme}://")),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    let (hostname, port) = split_port(place);
    if hostname.is_empty() {
        return Err("it has no host".to_owned());
    }
    let port = match port {
        None => DEFAULT_PORT,
        // It is not shown: after a / that was not encoded it is the beginning of a password.
        Some(digits) => digits
            .parse()
            .map_err(|_| "what follows the host's colon is no port (in a password, / is written as %2F)")?,
    };
    Ok(ProxyRoute {
        hostname: hostname.to_owned(),
        port,
        authorization: user.map(basic),
    })
}

/// Host without brackets, and what stands after the last colon that is a port's.
fn split_port(place: &str) -> (&str, Option<&str>) {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, after.strip_prefix(':'));
    }
    match place.split_once(':') {
        Some((_, port)) if port.contains(':') => (place, None), // a bare IPv6 address
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    }
}

/// RFC 7617; the URL's percent-encoding is undone.
fn basic(user_and_password: &str) -> String {
    let (user, password) = user_and_password
        .split_once(':')
        .unwrap_or((user_and_password, ""));
    let mut plain = decode(user);
    plain.push(b':');
    plain.extend(decode(password));
    format!("Basic {}", STANDARD.encode(plain))
}

fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let byte = if first == b'%' {
            after.get(..2).and_then(hex_byte)
        } else {
            None
        };
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    out
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

/// Whether a list of hosts as in NO_PROXY names this one. As curl reads it: a name stands for itself and all names under
/// it, with or without a dot before it; addresses match as addresses or as a CIDR block; `*` is everything.
fn is_exempt(host: &str, port: u16, list: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    list.split([',', ' ', '\t'])
        .filter(|entry| !entry.is_empty())
        .any(|entry| names(entry, &host, port))
}

fn names(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let address: Option<IpAddr> = host.parse().ok();
    if let (Some((network, bits)), Some(address)) = (entry.split_once('/'), address) {
        return in_block(address, network, bits);
    }
    let (named, named_port) = split_port(entry);
    if named_port.is_some_and(|digits| digits.parse() != Ok(port)) {
        return false;
    }
    if let Some(address) = address {
        return named.parse() == Ok(address);
    }
    let named = named
        .trim_start_matches("*.")
        .trim_start_matches('.')
        .trim_end_matches('.')
        .to_ascii_lowercase();
    match host.strip_suffix(named.as_str()) {
        Some(before) => !named.is_empty() && (before.is_empty() || before.ends_with('.')),
        None => false,
    }
}

fn in_block(address: IpAddr, network: &str, bits: &str) -> bool {
    let network = network.trim_start_matches('[').trim_end_matches(']');
    let (Ok(network), Ok(bits)) = (network.parse(), bits.parse::<u32>()) else {
        return false;
    };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(n)) if bits <= 32 => {
            bits == 0 || (u32::from(a) ^ u32::from(n)).leading_zeros() >= bits
        }
        (IpAddr::V6(a), IpAddr::V6(n)) if bits <= 128 => {
            bits == 0 || (u128::from(a) ^ u128::from(n)).leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{ProxyRoute, parse, route_to};
    use crate::options::Proxy;

    #[test]
    fn urls() {
        type Parsed = Result<(&'static str, u16, Option<&'static str>), &'static str>;
        let rows: [(&str, Parsed); 12] = [
            ("http://proxy:3128", Ok(("proxy", 3128, None))),
            ("proxy:3128/", Ok(("proxy", 3128, None))),
            ("HTTP://proxy", Ok(("proxy", 1080, None))),
            ("http://[::1]:3128", Ok(("::1", 3128, None))),
            ("http://u:p@proxy:1", Ok(("proxy", 1, Some("Basic dTpw")))),
            (
                "http://u%40x:p%3A%zz@proxy:1",
                Ok(("proxy", 1, Some("Basic dUB4OnA6JXp6"))),
            ),
            ("u@proxy:1", Ok(("proxy", 1, Some("Basic dTo=")))),
            ("https://proxy:1", Err("https://")),
            ("socks5://proxy:1", Err("socks5://")),
            ("http://:80", Err("no host")),
            ("http://proxy:99999", Err("no port")),
            ("http://me:secre/t@proxy:1", Err("no port")),
        ];
        for (url, wanted) in rows {
            match (parse(url), wanted) {
                (Ok(got), Ok((hostname, port, authorization))) => {
                    let authorization = authorization.map(str::to_owned);
                    assert!(
                        got == ProxyRoute {
                            hostname: hostname.into(),
                            port,
                            authorization
                        },
                        "{url}"
                    );
                }
                (Err(why), Err(part)) => {
                    assert!(why.contains(part) && !why.contains("secre"), "{url}: {why}");
                }
                (got, _) => panic!("{url}: {:?}", got.err()),
            }
        }
    }

    #[test]
    fn no_proxy() {
        let rows = [
            ("s3.example.com", 443, "", false),
            ("s3.example.com", 443, "*", true),
            ("s3.example.com", 443, "example.com", true),
            ("s3.example.com", 443, ".example.com", true),
            ("s3.example.com", 443, "*.example.com", true),
            ("S3.Example.com.", 443, "other, EXAMPLE.com", true),
            ("example.com", 443, ".example.com", true),
            ("notexample.com", 443, "example.com", false),
            ("s3.example.com", 443, "example.com:443", true),
            ("s3.example.com", 443, "example.com:80", false),
            ("s3.example.com", 443, "a b\texample.com", true),
            ("10.1.2.3", 80, "10.0.0.0/8", true),
            ("11.1.2.3", 80, "10.0.0.0/8", false),
            ("11.1.2.3", 80, "0.0.0.0/0", true),
            ("10.1.2.3", 80, "10.1.2.3", true),
            ("10.1.2.3", 80, "10.1.2.3:80", true),
            ("10.1.2.3", 80, "2.3", false),
            ("10.1.2.3", 80, "10.0.0.0/33,x/8,10.0.0.0/x", false),
            ("::1", 80, "[::1]", true),
            ("::1", 80, "::1", true),
            ("fd00::5", 80, "fd00::/8", true),
            ("fd00::5", 80, "10.0.0.0/8", false),
        ];
        for (host, port, list, exempt) in rows {
            let proxy = Proxy {
                url: "http://p:1".into(),
                no_proxy: list.into(),
            };
            let route = route_to(host, port, &proxy).unwrap();
            assert_eq!(route.is_none(), exempt, "{host}:{port} in {list:?}");
        }
    }
}
