//! TLS for connections.

use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::PostgresOptions;
use crate::SqlError;

/// Creates the TLS connector, or `None` if TLS is disabled.
pub(super) fn connector(
    config: &Config,
    options: &PostgresOptions,
) -> Result<Option<MakeRustlsConnect>, SqlError> {
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    if let Some(pem) = &options.root_certificates {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.add(certificate.map_err(SqlError::failed)?).map_err(SqlError::failed)?;
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        // Certificates that cannot be read are ignored.
        let _ = roots.add_parsable_certificates(found.certs);
    }
    if roots.is_empty() {
        return Err(SqlError::failed("no CA certificates were found"));
    }
    // Set the provider explicitly, so the process-wide provider is neither read
    // nor set.
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(SqlError::failed)?;
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_certificates_before_connecting() {
        let connector = |address: &str, pem: &str| {
            let options = PostgresOptions::new().root_certificates(pem);
            connector(&options.config(address).unwrap(), &options).map(|tls| tls.is_some())
        };
        assert!(!connector("host=localhost", "").unwrap());
        assert!(connector("host=db.example", "").is_err());
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(connector("host=db.example", broken).is_err());
    }
}
