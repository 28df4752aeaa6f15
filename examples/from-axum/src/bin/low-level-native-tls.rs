//! HTTPS with the operating system's TLS: a custom acceptor with all limits of
//! the server.

use std::io;
use std::net::SocketAddr;

use stockade::prelude::*;
use stockade::server::{Handshake, Listener, LocalAddr};
use tokio::net::{TcpListener, TcpStream};
use tokio_native_tls::native_tls::{self, Identity, Protocol};
use tokio_native_tls::{TlsAcceptor, TlsStream};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/key.pem");

/// A port that accepts TLS connections.
struct NativeTls {
    tcp: TcpListener,
    address: SocketAddr,
    acceptor: TlsAcceptor,
}

impl NativeTls {
    fn new(tcp: TcpListener) -> Result<Self, BoxError> {
        Ok(Self { address: tcp.local_addr()?, tcp, acceptor: acceptor()? })
    }
}

impl Listener for NativeTls {
    type Io = Handshake<TlsStream<TcpStream>>;

    async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
        let (stream, client) = self.tcp.accept().await?;
        let acceptor = self.acceptor.clone();
        let handshake =
            Handshake::new(async move { acceptor.accept(stream).await.map_err(io::Error::other) });
        Ok((handshake, Some(client)))
    }

    fn local_addr(&self) -> LocalAddr {
        LocalAddr::Tcp(self.address)
    }
}

fn acceptor() -> Result<TlsAcceptor, BoxError> {
    let (certificate, key) = (std::fs::read(CERTIFICATE)?, std::fs::read(KEY)?);
    let mut acceptor = native_tls::TlsAcceptor::builder(Identity::from_pkcs8(&certificate, &key)?);
    Ok(acceptor.min_protocol_version(Some(Protocol::Tlsv12)).build()?.into())
}

fn app() -> Result<App, ConfigError> {
    create_router(routes! { GET: async || "Hello, World!" }, RouterOptions::new()).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let listener = NativeTls::new(TcpListener::bind("[::1]:3000").await?)?;
    app()?.listen(listener).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use from_axum::tls_client;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn the_app_uses_tls() {
        let listener = NativeTls::new(TcpListener::bind("127.0.0.1:0").await.unwrap()).unwrap();
        let address = listener.address;
        tokio::spawn(app().unwrap().create_server().unwrap().listen(listener));
        let mut other = TcpStream::connect(address).await.unwrap();
        other.write_all(b"no TLS at all").await.unwrap();
        for _ in 0..2 {
            assert!(tls_client::get(address, "/").await.ends_with("Hello, World!"));
        }
    }
}
