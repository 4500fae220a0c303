use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub type WallClock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// The system's clock, in milliseconds since 1970.
pub fn system_wall_ms() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

/// What answers are held against beside their length and range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing more.
    Size,
    /// The manifest's ETag.
    Etag,
    /// The manifest's ETag, and the store's checksum of whole objects, which is asked for. (One that comes unasked is
    /// always checked.)
    Checksum,
}

/// Limits of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Name look-up, TCP, proxy and TLS.
    pub connect: Duration,
    /// From the request sent to the answer's head.
    pub first_byte: Duration,
    /// Without a byte while a body is moving.
    pub idle: Duration,
    /// The whole attempt; `None`: no limit.
    pub total: Option<Duration>,
}

/// The proxy to reach the store by, as the environment names it. Reading the environment is the caller's.
#[derive(Clone)]
pub struct Proxy {
    /// `http://[user:password@]host[:port]`; a scheme may be left out. Percent-encoding in user and password is undone.
    pub url: String,
    /// Hosts that are reached without it: names (with all names under them), `host:port`, addresses, CIDR blocks, or `*`,
    /// with commas or spaces between.
    pub no_proxy: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self
            .url
            .rsplit_once('@')
            .map_or(self.url.as_str(), |(_, host)| host);
        f.debug_struct("Proxy")
            .field("url", &shown)
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

/// What an engine is made for: one bucket at one store.
#[derive(Clone)]
pub struct EngineOptions {
    /// Whether the store speaks TLS. Certificates are always verified.
    pub tls: bool,
    /// Host name or address to connect to, without brackets.
    pub hostname: String,
    /// Port to connect to.
    pub port: u16,
    /// The Host header as it is sent and signed: brackets where IPv6, a port where it is not the protocol's own.
    pub host: String,
    /// Encoded path before an object's key: `` or `/base/bucket`; no slash at the end.
    pub path_prefix: String,
    /// Region of signatures.
    pub signing_region: String,
    /// Service name of signatures: `s3`, `s3-outposts`, ...
    pub signing_service: String,
    /// The caller pays for requests.
    pub requester_pays: bool,
    /// What answers are held against.
    pub verify: Verify,
    /// Limits of each attempt.
    pub limits: Limits,
    /// Most connections over all threads, and so most attempts at one time; at least 1.
    pub max_connections: usize,
    /// I/O threads; at least 1.
    pub threads: usize,
    /// PEM certificates that are trusted instead of the system's; `None`: the system's.
    pub ca_pem: Option<String>,
    /// The proxy to reach the store by.
    pub proxy: Option<Proxy>,
    /// The clock of signatures.
    pub wall_ms: WallClock,
}

/// Why an engine could not be started.
#[derive(Debug)]
pub enum StartError {
    /// An option has a value that cannot be: which, and why.
    Option(&'static str, String),
    /// The certificate bundle, or the system's, cannot be used.
    Certificates(String),
    /// The system gave no thread or no event queue.
    System(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Option(name, why) => write!(f, "{name}: {why}"),
            StartError::Certificates(why) => write!(f, "no certificates to trust: {why}"),
            StartError::System(error) => write!(f, "the I/O threads could not be started: {error}"),
        }
    }
}

impl std::error::Error for StartError {}
