//! A TLS client for the tests.

use std::net::SocketAddr;
use std::sync::Arc;

use stockade::server::rustls::pki_types::pem::PemObject as _;
use stockade::server::rustls::pki_types::{CertificateDer, ServerName};
use stockade::server::rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");

/// Connects to a server with the certificate of these examples.
///
/// # Panics
/// Panics if the connection fails.
#[expect(clippy::unwrap_used, reason = "it fails the test")]
pub async fn connect(address: SocketAddr, protocol: &str) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(CERTIFICATE).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// Requests a path, and returns the whole response as text.
///
/// # Panics
/// Panics if the request fails.
#[expect(clippy::unwrap_used, reason = "it fails the test")]
pub async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = connect(address, "http/1.1").await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
