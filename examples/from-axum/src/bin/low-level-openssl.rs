//! HTTPS with OpenSSL: a custom acceptor with all limits of the server.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use openssl::error::ErrorStack;
use openssl::ssl::{AlpnError, Ssl, SslAcceptor, SslFiletype, SslMethod, select_next_proto};
use stockade::prelude::*;
use stockade::server::{Handshake, Listener, LocalAddr};
use tokio::net::{TcpListener, TcpStream};
use tokio_openssl::SslStream;

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/key.pem");

/// A port that accepts TLS connections.
struct OpenSsl {
    tcp: TcpListener,
    address: SocketAddr,
    acceptor: SslAcceptor,
}

impl OpenSsl {
    fn new(tcp: TcpListener) -> Result<Self, BoxError> {
        Ok(Self { address: tcp.local_addr()?, tcp, acceptor: acceptor()? })
    }
}

impl Listener for OpenSsl {
    type Io = Handshake<SslStream<TcpStream>>;

    async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
        let (stream, client) = self.tcp.accept().await?;
        let mut stream = SslStream::new(Ssl::new(self.acceptor.context())?, stream)?;
        let handshake = Handshake::new(async move {
            Pin::new(&mut stream).accept().await.map_err(io::Error::other)?;
            Ok(stream)
        });
        Ok((handshake, Some(client)))
    }

    fn local_addr(&self) -> LocalAddr {
        LocalAddr::Tcp(self.address)
    }
}

fn acceptor() -> Result<SslAcceptor, ErrorStack> {
    let mut acceptor = SslAcceptor::mozilla_modern_v5(SslMethod::tls())?;
    acceptor.set_certificate_file(CERTIFICATE, SslFiletype::PEM)?;
    acceptor.set_private_key_file(KEY, SslFiletype::PEM)?;
    acceptor.check_private_key()?;
    acceptor.set_alpn_select_callback(|_, offered| {
        select_next_proto(b"\x02h2\x08http/1.1", offered).ok_or(AlpnError::NOACK)
    });
    Ok(acceptor.build())
}

fn app() -> Result<App, ConfigError> {
    create_router(routes! { GET: async || "Hello, World!" }, RouterOptions::new()).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let listener = OpenSsl::new(TcpListener::bind("[::1]:3000").await?)?;
    app()?.listen(listener).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use from_axum::tls_client;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn start() -> SocketAddr {
        let listener = OpenSsl::new(TcpListener::bind("127.0.0.1:0").await.unwrap()).unwrap();
        let address = listener.address;
        tokio::spawn(app().unwrap().create_server().unwrap().listen(listener));
        address
    }

    #[tokio::test]
    async fn the_app_uses_tls() {
        let address = start().await;
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"no TLS at all").await.unwrap();
        assert!(tls_client::get(address, "/").await.ends_with("Hello, World!"));
    }

    #[tokio::test]
    async fn http2_works() {
        let stream = tls_client::connect(start().await, "h2").await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let mut sender = sender.ready().await.unwrap();
        let request = stockade::http::Request::get("https://localhost/").body(()).unwrap();
        let (response, _) = sender.send_request(request, true).unwrap();
        assert_eq!(response.await.unwrap().status(), 200);
    }
}
