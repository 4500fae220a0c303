use std::sync::Arc;
use std::time::Duration;

use napi::{Error, Result, Status};
use napi_derive::napi;
use os2g_engine::{Credentials, EngineOptions, Limits, Proxy, Verify, system_wall_ms};

/// See `NativeEngineOptions` of the TypeScript side, which has checked them.
#[napi(object)]
pub struct NativeEngineOptions {
    /// Whether the store speaks TLS.
    pub tls: bool,
    /// The Host header.
    pub host: String,
    /// Name or address to connect to.
    pub hostname: String,
    /// Port to connect to.
    pub port: u16,
    /// Encoded path before a key.
    pub path_prefix: String,
    /// Region of signatures.
    pub signing_region: String,
    /// Service name of signatures.
    pub signing_name: String,
    /// The caller pays for requests.
    pub requester_pays: bool,
    /// `size`, `etag` or `checksum`.
    pub verify: String,
    /// Nanoseconds.
    pub connect_ns: f64,
    /// Nanoseconds.
    pub first_byte_ns: f64,
    /// Nanoseconds.
    pub idle_ns: f64,
    /// Nanoseconds; infinity: none.
    pub total_ns: f64,
    /// Most attempts at one time.
    pub max_connections: u32,
    /// I/O threads.
    pub threads: u32,
    /// PEM certificates to trust instead of the system's.
    pub ca_pem: Option<String>,
    /// URL of the proxy.
    pub proxy: Option<String>,
    /// Hosts without proxy.
    pub no_proxy: Option<String>,
    /// Added to the wall clock, in milliseconds.
    pub wall_offset_ms: f64,
}

/// Credentials as requests are signed with them.
#[napi(object)]
pub struct NativeCredentials {
    /// Public part.
    pub access_key_id: String,
    /// Secret part.
    pub secret_access_key: String,
    /// Session token.
    pub session_token: Option<String>,
    /// Milliseconds since 1970.
    pub expires_at_ms: Option<f64>,
}

impl NativeCredentials {
    pub fn into_engine(self) -> Credentials {
        Credentials {
            access_key_id: self.access_key_id,
            secret_access_key: self.secret_access_key,
            session_token: self.session_token,
            expires_at_ms: self.expires_at_ms,
        }
    }
}

impl NativeEngineOptions {
    pub fn into_engine(self) -> Result<EngineOptions> {
        let verify = match self.verify.as_str() {
            "size" => Verify::Size,
            "etag" => Verify::Etag,
            "checksum" => Verify::Checksum,
            other => {
                return Err(invalid(format!(
                    "verify: {other:?} is none of size, etag, checksum"
                )));
            }
        };
        let limits = Limits {
            connect: duration("connectNs", self.connect_ns)?,
            first_byte: duration("firstByteNs", self.first_byte_ns)?,
            idle: duration("idleNs", self.idle_ns)?,
            total: match self.total_ns {
                f64::INFINITY => None,
                ns => Some(duration("totalNs", ns)?),
            },
        };
        let no_proxy = self.no_proxy.unwrap_or_default();
        let offset_ms = self.wall_offset_ms;
        Ok(EngineOptions {
            tls: self.tls,
            hostname: self.hostname,
            port: self.port,
            host: self.host,
            path_prefix: self.path_prefix,
            signing_region: self.signing_region,
            signing_service: self.signing_name,
            requester_pays: self.requester_pays,
            verify,
            limits,
            max_connections: self.max_connections as usize,
            threads: self.threads as usize,
            ca_pem: self.ca_pem,
            proxy: self.proxy.map(|url| Proxy { url, no_proxy }),
            wall_ms: Arc::new(move || system_wall_ms() + offset_ms),
        })
    }
}

fn duration(name: &str, ns: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(ns / 1e9).map_err(|error| invalid(format!("{name}: {ns}: {error}")))
}

pub fn invalid(what: String) -> Error {
    Error::new(Status::InvalidArg, what)
}
