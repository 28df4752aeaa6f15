//! TLS for connections.

use std::sync::Arc;

use stockade_errors::ConfigIssue;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The TLS settings for one host.
#[derive(Clone)]
pub(crate) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    /// Creates settings that trust these certificates (PEM), or the system's
    /// certificates if `None`.
    pub(crate) fn new(host: &str, certificates: Option<&[u8]>) -> Result<Self, ConfigIssue> {
        let mistake = |error: &dyn std::fmt::Display| ConfigIssue::new(error.to_string());
        let name = ServerName::try_from(host.to_owned()).map_err(|error| mistake(&error))?;
        let mut roots = RootCertStore::empty();
        if let Some(pem) = certificates {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| mistake(&error))?;
                roots.add(certificate).map_err(|error| mistake(&error))?;
            }
        } else {
            let found = rustls_native_certs::load_native_certs();
            // Certificates that cannot be read are ignored.
            let _ = roots.add_parsable_certificates(found.certs);
        }
        if roots.is_empty() {
            return Err(ConfigIssue::new("no CA certificates were found"));
        }
        // Set the provider explicitly, so the process-wide provider is neither
        // read nor set.
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| mistake(&error))?;
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name })
    }

    /// Returns the same settings for another host.
    pub(crate) fn at(&self, host: &str) -> Result<Self, ConfigIssue> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| ConfigIssue::new(error.to_string()))?;
        Ok(Self { connector: self.connector.clone(), name })
    }

    pub(crate) async fn encrypt(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}
