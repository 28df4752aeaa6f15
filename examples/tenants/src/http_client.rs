//! A small HTTP client that connects to addresses instead of names, and does not
//! follow redirects.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use stockade::BoxError;
use stockade::http::header::{CONTENT_TYPE, HOST};
use stockade::http::{Request, Response, Uri};
use stockade::outgoing::OutgoingUrl;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The maximum time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends JSON to one of these addresses, which `OutgoingRequest::resolve` has
/// checked. Another lookup of the name could find another address.
pub async fn post(
    url: &OutgoingUrl,
    addresses: &[SocketAddr],
    body: &str,
) -> Result<Response<Incoming>, BoxError> {
    let authority = url.as_str().parse::<Uri>()?.authority().map(ToString::to_string);
    let request = Request::post(url.path_and_query())
        .header(HOST, authority.unwrap_or_default())
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_owned())?;
    let exchange = async {
        let stream = TcpStream::connect(addresses).await?;
        if !url.is_https() {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(url.host().to_owned())?;
        exchange(connector()?.connect(name, stream).await?, request).await
    };
    timeout(TIMEOUT, exchange).await?
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<String>,
) -> Result<Response<Incoming>, BoxError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The connection ends with the response.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender.send_request(request).await?)
}

/// Returns a TLS client that trusts the certificates of the system.
fn connector() -> Result<TlsConnector, BoxError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
