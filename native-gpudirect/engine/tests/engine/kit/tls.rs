use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::store::{Connection, Stream};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A certification authority of a test's own.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Each has a name of its own, so that none is taken for another.
        let name = format!("authority {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// What makes TLS of the connections to a server with a certificate for these names.
    pub fn server(
        &self,
        names: &[&str],
    ) -> impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &self.0)
            .unwrap();
        wrap(certificate.der().clone(), key)
    }
}

/// A certificate that nobody else has signed, and the server that has it: what `openssl req -x509` makes.
pub fn self_signed(names: &[&str], is_ca: bool, years: (i32, i32)) -> (String, Wrap) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    if is_ca {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), Box::new(wrap(certificate.der().clone(), key)))
}

pub type Wrap = Box<dyn Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync>;

fn wrap(
    certificate: CertificateDer<'static>,
    key: KeyPair,
) -> impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = builder
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    let mut config = config.with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = Arc::new(config);
    move |tcp| {
        let tls = ServerConnection::new(Arc::clone(&config)).ok()?;
        Some(Box::new(StreamOwned::new(tls, tcp)))
    }
}

impl Connection for StreamOwned<ServerConnection, TcpStream> {
    fn end(&mut self) {
        self.conn.send_close_notify();
        let _ = self.flush();
        self.cut();
    }

    fn cut(&mut self) {
        let _ = self.sock.shutdown(Shutdown::Both);
    }
}
