use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use os2g_wire::{Class, Verdict};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::conn::{Conn, Io};
use crate::errno::errno_text;
use crate::options::{EngineOptions, StartError};
use crate::proxy::{ProxyRoute, route_to};
use crate::resolve::Resolver;
use crate::tls::{Tls, tls_error_text};
use crate::tunnel::open_tunnel;

const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);

/// Opens connections to one store, over a proxy where there is one. All threads share it.
pub(crate) struct Dialer {
    tls: Option<Tls>,
    proxy: Option<ProxyRoute>,
    /// `host:port` as CONNECT names it.
    store: String,
    /// The Host header: a proxy that is asked for the object makes its own of the address, and the signature is of ours.
    host: String,
    resolver: Resolver,
    /// One permit a socket, from before it is opened until after it is closed.
    permits: Arc<Semaphore>,
    max: usize,
    connect_limit: Duration,
}

impl Dialer {
    /// # Errors
    /// A proxy or host name that cannot be, or no certificates.
    pub fn new(options: &EngineOptions) -> Result<Dialer, StartError> {
        let EngineOptions {
            hostname,
            port,
            max_connections,
            limits,
            ..
        } = options;
        let tls = if options.tls {
            Some(Tls::to(hostname, options.ca_pem.as_deref())?)
        } else {
            None
        };
        let proxy = match &options.proxy {
            Some(proxy) => route_to(hostname, *port, proxy)?,
            None => None,
        };
        let resolver = match &proxy {
            Some(proxy) => Resolver::new(&proxy.hostname, proxy.port),
            None => Resolver::new(hostname, *port),
        };
        let name = if hostname.contains(':') {
            format!("[{hostname}]")
        } else {
            hostname.clone()
        };
        Ok(Dialer {
            tls,
            proxy,
            store: format!("{name}:{port}"),
            host: options.host.clone(),
            resolver,
            permits: Arc::new(Semaphore::new(*max_connections)),
            max: *max_connections,
            connect_limit: limits.connect,
        })
    }

    /// What stands before the path in a request to a proxy that is asked for the object itself, and what it is told about
    /// who asks; `None` where the store is asked (also through a tunnel).
    pub fn absolute_form(&self) -> Option<(String, Option<String>)> {
        let proxy = self.proxy.as_ref().filter(|_| self.tls.is_none())?;
        Some((format!("http://{}", self.host), proxy.authorization.clone()))
    }

    /// What the proxy is told about who asks.
    pub fn proxy_authorization(&self) -> Option<&str> {
        self.proxy.as_ref()?.authorization.as_deref()
    }

    /// Sockets that are open or being opened.
    pub fn sockets(&self) -> usize {
        self.max - self.permits.available_permits()
    }

    /// Opens a connection.
    ///
    /// `evict`: called where all sockets are taken, to close idle ones.
    pub async fn dial(&self, evict: impl Fn()) -> Result<Box<Conn>, Verdict> {
        let permit = self.permit(evict).await?;
        let mut tcp = self.connect().await?;
        let Some(tls) = &self.tls else {
            return Ok(Conn::new(Io::Plain(tcp), permit));
        };
        if let Some(proxy) = &self.proxy {
            let opened = open_tunnel(&mut tcp, &self.store, proxy.authorization.as_deref()).await;
            opened.map_err(|why| no_connection(&format!("the proxy {}: {why}", proxy.hostname)))?;
        }
        match tls.connector.connect(tls.server.clone(), tcp).await {
            Ok(stream) => Ok(Conn::new(Io::Tls(Box::new(stream)), permit)),
            Err(error) => Err(match tls_error_text(&error) {
                Some(what) => Verdict {
                    class: Class::Tls,
                    what: format!("TLS failed: {what}"),
                },
                None if error.kind() == io::ErrorKind::UnexpectedEof => {
                    no_connection("closed before TLS was set up")
                }
                None => no_connection(&format!("{} while TLS was set up", errno_text(&error))),
            }),
        }
    }

    async fn permit(&self, evict: impl Fn()) -> Result<OwnedSemaphorePermit, Verdict> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        evict();
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|_| no_connection("the engine is closed"))
    }

    /// Tries one address after the other; a silent one gets its share of the limit only.
    async fn connect(&self) -> Result<TcpStream, Verdict> {
        let addresses = self
            .resolver
            .addresses()
            .await
            .map_err(|why| no_connection(&why))?;
        let share = self.connect_limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        let mut failures: Vec<String> = Vec::new();
        for (n, &address) in addresses.iter().enumerate() {
            let is_last = n + 1 == addresses.len();
            let tried = if is_last {
                TcpStream::connect(address).await
            } else {
                timeout(share, TcpStream::connect(address))
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            };
            match tried.and_then(|tcp| set_up(&tcp).map(|()| tcp)) {
                Ok(tcp) => return Ok(tcp),
                Err(error) => failures.push(connect_text(&error, address)),
            }
        }
        self.resolver.forget();
        Err(no_connection(&failures.join(", ")))
    }
}

fn set_up(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    SockRef::from(tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_AFTER))
}

fn connect_text(error: &io::Error, address: SocketAddr) -> String {
    let why = match error.kind() {
        io::ErrorKind::TimedOut => "ETIMEDOUT".to_owned(),
        _ => errno_text(error),
    };
    format!("connect {why} {address}")
}

fn no_connection(why: &str) -> Verdict {
    Verdict {
        class: Class::Connect,
        what: format!("no connection: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Arc;
    use std::time::Duration;

    use os2g_wire::Class;
    use socket2::{Domain, Socket, Type};
    use tokio::sync::Semaphore;

    use super::Dialer;
    use crate::resolve::Resolver;

    /// An address that refuses: bound, so that nobody else gets it, and not listened at.
    fn dead() -> (Socket, SocketAddr) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        socket.bind(&any.into()).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        (socket, address)
    }

    #[test]
    fn a_dead_address_is_passed_over_and_all_dead_are_named() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let alive = listener.local_addr().unwrap();
        let dialer = |addresses: Vec<SocketAddr>| Dialer {
            tls: None,
            proxy: None,
            store: "store:80".to_owned(),
            host: "store".to_owned(),
            resolver: Resolver::knowing(addresses),
            permits: Arc::new(Semaphore::new(2)),
            max: 2,
            connect_limit: Duration::from_secs(60),
        };
        let ((_held, one), (_held_too, other)) = (dead(), dead());
        let some = dialer(vec![one, alive, other]);
        for _ in 0..3 {
            let conn = runtime.block_on(some.dial(|| {}));
            assert!(
                conn.is_ok_and(|_| some.sockets() == 1),
                "whichever address comes first"
            );
            listener.accept().unwrap();
        }
        assert_eq!(some.sockets(), 0);
        let verdict = runtime
            .block_on(dialer(vec![one, other]).dial(|| {}))
            .err()
            .unwrap();
        let what = format!("no connection: connect ECONNREFUSED {one}, connect ECONNREFUSED {other}");
        assert_eq!((verdict.class, verdict.what), (Class::Connect, what));
    }
}
