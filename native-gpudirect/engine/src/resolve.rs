use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::lookup_host;

use crate::errno::errno_text;
use crate::sync::lock;

/// Long enough that opening many connections at once asks once, short enough to follow a store that rotates its addresses
/// (S3's live for a few seconds).
const KEPT: Duration = Duration::from_secs(10);

/// The addresses of one host, each call starting with another one, so that connections spread over them.
pub(crate) struct Resolver {
    hostname: String,
    port: u16,
    known: Mutex<Option<(Instant, Vec<SocketAddr>)>>,
    /// Held while one asks, so that the others wait for the answer.
    asking: tokio::sync::Mutex<()>,
    turn: AtomicUsize,
}

impl Resolver {
    pub fn new(hostname: &str, port: u16) -> Resolver {
        let literal: Option<IpAddr> = hostname.parse().ok();
        Resolver {
            hostname: hostname.to_owned(),
            port,
            known: Mutex::new(literal.map(|ip| (Instant::now(), vec![SocketAddr::new(ip, port)]))),
            asking: tokio::sync::Mutex::new(()),
            turn: AtomicUsize::new(0),
        }
    }

    /// All addresses in the order to try them; at least one. An error says why there is none.
    pub async fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let _one = self.asking.lock().await;
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let failed = |why: String| format!("getaddrinfo {}: {why}", self.hostname);
        let found = lookup_host((self.hostname.as_str(), self.port)).await;
        let found: Vec<SocketAddr> = found.map_err(|error| failed(errno_text(&error)))?.collect();
        if found.is_empty() {
            return Err(failed("no address".to_owned()));
        }
        *lock(&self.known) = Some((Instant::now(), found));
        self.known().ok_or_else(|| failed("no address".to_owned()))
    }

    /// None of them answered: they are asked for anew.
    pub fn forget(&self) {
        if !self.is_literal() {
            *lock(&self.known) = None;
        }
    }

    fn is_literal(&self) -> bool {
        self.hostname.parse::<IpAddr>().is_ok()
    }

    fn known(&self) -> Option<Vec<SocketAddr>> {
        let known = lock(&self.known);
        let (since, addresses) = known.as_ref()?;
        if since.elapsed() > KEPT && !self.is_literal() {
            return None;
        }
        let mut turned = addresses.clone();
        turned.rotate_left(self.turn.fetch_add(1, Ordering::Relaxed) % addresses.len());
        Some(turned)
    }
}

#[cfg(test)]
impl Resolver {
    pub fn knowing(addresses: Vec<SocketAddr>) -> Resolver {
        Resolver {
            known: Mutex::new(Some((Instant::now(), addresses))),
            ..Resolver::new("store.invalid", 80)
        }
    }
}
