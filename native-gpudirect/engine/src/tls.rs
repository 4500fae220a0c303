use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, InvalidMessage, RootCertStore};

use crate::options::StartError;
use crate::trusted_leaf::TrustedLeaf;

/// TLS to one host. Sessions are resumed; certificates are always verified.
#[derive(Clone)]
pub(crate) struct Tls {
    pub connector: TlsConnector,
    pub server: ServerName<'static>,
}

impl Tls {
    /// # Errors
    /// No certificate to trust, or a host name that can be none.
    pub fn to(hostname: &str, ca_pem: Option<&str>) -> Result<Tls, StartError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| StartError::Option("tls", error.to_string()))?;
        let mut config = match ca_pem {
            None => builder
                .with_root_certificates(system_roots()?)
                .with_no_client_auth(),
            Some(pem) => {
                let (roots, bundle) = given_roots(pem)?;
                let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|error| StartError::Certificates(error.to_string()))?;
                let verifier = Arc::new(TrustedLeaf { chains, bundle });
                builder
                    .dangerous()
                    .with_custom_certificate_verifier(verifier)
                    .with_no_client_auth()
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let server = ServerName::try_from(hostname.to_owned())
            .map_err(|_| StartError::Option("hostname", format!("{hostname:?} is no host name")))?;
        Ok(Tls {
            connector: TlsConnector::from(Arc::new(config)),
            server,
        })
    }
}

/// The bundle's certificates, as authorities and as they are.
fn given_roots(pem: &str) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), StartError> {
    let mut roots = RootCertStore::empty();
    let mut bundle = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate
            .map_err(|error| StartError::Certificates(format!("the bundle is no PEM: {error}")))?;
        let added = roots.add(certificate.clone());
        bundle.push(certificate);
        added.map_err(|error| {
            StartError::Certificates(format!("a certificate of the bundle is bad: {error}"))
        })?;
    }
    if roots.is_empty() {
        return Err(StartError::Certificates("the bundle holds none".to_owned()));
    }
    Ok((roots, bundle))
}

fn system_roots() -> Result<RootCertStore, StartError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Some systems carry old roots that no longer parse: those are of no use to anyone.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found
            .errors
            .first()
            .map_or("the system has none".to_owned(), ToString::to_string);
        return Err(StartError::Certificates(why));
    }
    Ok(roots)
}

/// What went wrong where an error is of TLS, in a sentence; `None` where it is of the connection under it.
pub(crate) fn tls_error_text(error: &io::Error) -> Option<String> {
    let inner = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match inner {
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => "this port speaks http, not https".to_owned(),
        Error::InvalidCertificate(why) => certificate_text(why),
        other => other.to_string(),
    })
}

fn certificate_text(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer => {
            "the store's certificate is signed by nobody that is trusted".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the store's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the store's certificate is not valid yet: is this machine's clock right?".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("the store's certificate is for another host: {why}")
        }
        other => format!("the store's certificate is not valid: {other}"),
    }
}
