use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// Verifies as webpki does, and one thing more: a store's certificate that itself stands in the given bundle is trusted, as
/// OpenSSL trusts it. That is what `openssl req -x509` makes, a certificate that is its own authority, which webpki refuses as
/// a server's (`CaUsedAsEndEntity`). Its name and its dates are checked all the same.
#[derive(Debug)]
pub(crate) struct TrustedLeaf {
    pub chains: Arc<WebPkiServerVerifier>,
    pub bundle: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for TrustedLeaf {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self
            .bundle
            .iter()
            .any(|trusted| trusted.as_ref() == end_entity.as_ref())
        {
            return self.chains.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            );
        }
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        check_dates(end_entity, now)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// RFC 5280, 4.1.2.5.
fn check_dates(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let bad = |why| Err(Error::InvalidCertificate(why));
    let Ok(parsed) = Certificate::from_der(certificate) else {
        return bad(CertificateError::BadEncoding);
    };
    let validity = parsed.tbs_certificate.validity;
    if now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
        return bad(CertificateError::NotValidYet);
    }
    if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
        return bad(CertificateError::Expired);
    }
    Ok(())
}
