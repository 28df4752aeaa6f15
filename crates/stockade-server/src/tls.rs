//! [`TlsConfig`]: a certificate and its key.

use std::fmt;
use std::sync::Arc;

use stockade_errors::{ConfigError, Mistake};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its private key: TLS 1.2 and 1.3, without client
/// certificates.
///
/// The cryptography is that of ring; no process-wide provider is read or set.
#[derive(Clone)]
pub struct TlsConfig {
    config: ServerConfig,
}

impl TlsConfig {
    /// Reads a chain of certificates, the server's own first, and its private
    /// key (PKCS #8, PKCS #1 or SEC 1), both PEM.
    ///
    /// # Errors
    /// When the certificate or the key cannot be read, or they do not belong
    /// together.
    #[track_caller]
    pub fn from_pem(
        cert_pem: impl AsRef<[u8]>,
        key_pem: impl AsRef<[u8]>,
    ) -> Result<Self, ConfigError> {
        let location = std::panic::Location::caller();
        let mistake = |text: String| ConfigError::from(Mistake::new(text).at(location));
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(cert_pem.as_ref())
            .collect::<Result<_, _>>()
            .map_err(|error| mistake(format!("cannot read the TLS certificate: {error}")))?;
        if certificates.is_empty() {
            return Err(mistake("there is no certificate in the TLS certificate file".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_ref())
            .map_err(|error| mistake(format!("cannot read the TLS key: {error}")))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| mistake(format!("the TLS certificate and key: {error}")))?;
        Ok(Self { config })
    }

    pub(crate) fn into_acceptor(mut self, http2: bool) -> TlsAcceptor {
        let protocols: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        self.config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(self.config))
    }
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsConfig(..)")
    }
}
