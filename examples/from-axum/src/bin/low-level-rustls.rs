//! HTTPS with a custom rustls configuration.

use stockade::prelude::*;
use stockade::server::TlsConfig;
use stockade::server::rustls::ServerConfig;
use stockade::server::rustls::pki_types::pem::PemObject as _;
use stockade::server::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/key.pem");

fn config() -> Result<ServerConfig, BoxError> {
    let certificates = CertificateDer::pem_file_iter(CERTIFICATE)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(KEY)?;
    let config = ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn app() -> Result<App, ConfigError> {
    create_router(routes! { GET: async || "Hello, World!" }, RouterOptions::new()).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let server = app()?.create_server()?.tls(TlsConfig::from_rustls(config()?)?);
    server.listen("[::1]:3000").await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use from_axum::tls_client;

    use super::*;

    #[tokio::test]
    async fn both_protocols_work() {
        let tls = TlsConfig::from_rustls(config().unwrap()).unwrap();
        let server = app().unwrap().create_server().unwrap().tls(tls).bind(0).await.unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        assert!(tls_client::get(address, "/").await.ends_with("Hello, World!"));
        let stream = tls_client::connect(address, "h2").await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    }
}
