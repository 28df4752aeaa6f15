//! The certificate, and the shared rustls settings of all servers.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::CertifiedKey;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, version};

use crate::{BoxError, Scenario};

/// The name in the certificate.
pub const NAME: &str = "localhost";

/// Writes a new certificate and its key to a folder.
///
/// # Errors
/// Returns an error if the folder is not writable.
pub fn write(folder: &Path) -> Result<(), BoxError> {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    fs::write(folder.join(CERTIFICATE), cert.pem())?;
    Ok(fs::write(folder.join(KEY), signing_key.serialize_pem())?)
}

/// Returns the settings of a server: TLS 1.3 with ring, and the protocol of the
/// scenario.
///
/// # Errors
/// Returns an error if the folder does not contain a certificate.
pub fn server(folder: &Path, scenario: Scenario) -> Result<ServerConfig, BoxError> {
    let key = PrivateKeyDer::from_pem_file(folder.join(KEY))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate(folder)?], key)?;
    config.alpn_protocols = scenario.protocol().map(Vec::from).into_iter().collect();
    Ok(config)
}

/// Returns the settings of a client that trusts only this certificate.
///
/// # Errors
/// Returns an error if the folder does not contain a certificate.
pub fn client(folder: &Path, scenario: Scenario) -> Result<ClientConfig, BoxError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(folder)?)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = scenario.protocol().map(Vec::from).into_iter().collect();
    Ok(config)
}

fn certificate(folder: &Path) -> Result<CertificateDer<'static>, BoxError> {
    Ok(CertificateDer::from_pem_file(folder.join(CERTIFICATE))?)
}

const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
