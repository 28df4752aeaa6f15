//! A chat over WebSockets on HTTP/2, with TLS.

use stockade::http::Version;
use stockade::middleware::SecurityHeaders;
use stockade::prelude::*;
use stockade::server::TlsConfig;
use stockade::websockets::{SocketError, WebSocketUpgrade};
use tokio::sync::broadcast;
use tower_http::services::ServeDir;

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/key.pem");

async fn chat(
    upgrade: WebSocketUpgrade,
    version: Version,
    everybody: State<broadcast::Sender<String>>,
) -> Response {
    tracing::info!("a WebSocket by {version:?}");
    let mut messages = everybody.subscribe();
    upgrade.on_upgrade(async move |mut socket: WebSocket| -> Result<(), SocketError> {
        loop {
            tokio::select! {
                text = socket.recv_text() => match text {
                    // This client receives it too, so sending never fails for
                    // lack of receivers.
                    Some(text) => drop(everybody.send(text?)),
                    None => return Ok(()),
                },
                // A client that is too slow misses messages.
                message = messages.recv() => if let Ok(text) = message {
                    socket.send(text).await?;
                },
            }
        }
    })
}

fn app() -> Result<App, ConfigError> {
    let page = ServeDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/websockets-http2"));
    let api = routes! { mount: page, "ws": { ws: chat } };
    // The default policy does not allow scripts.
    let headers = SecurityHeaders::new().set("content-security-policy", "default-src 'self'")?;
    let options = RouterOptions::new().enable_web_sockets(true).security_headers(headers);
    create_router(api, options).state(broadcast::channel::<String>(16).0).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let server = app()?.create_server()?.tls(TlsConfig::from_files(CERTIFICATE, KEY)?);
    server.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use from_axum::tls_client;
    use h2::ext::Protocol;
    use h2::{RecvStream, SendStream};
    use stockade::http;

    use super::*;

    async fn start() -> SocketAddr {
        let tls = TlsConfig::from_files(CERTIFICATE, KEY).unwrap();
        let server = app().unwrap().create_server().unwrap().tls(tls).bind(0).await.unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        address
    }

    /// Opens a WebSocket on a new connection.
    async fn connect(address: SocketAddr) -> (SendStream<Bytes>, RecvStream) {
        let stream = tls_client::connect(address, "h2").await;
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        while !sender.is_extended_connect_protocol_enabled() {
            tokio::task::yield_now().await;
        }
        let request = http::Request::connect("https://localhost/ws")
            .extension(Protocol::from_static("websocket"))
            .header("sec-websocket-version", "13");
        let mut sender = sender.ready().await.unwrap();
        let (response, send) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200);
        (send, response.into_body())
    }

    #[tokio::test]
    async fn all_clients_receive_messages() {
        let address = start().await;
        let (mut send, mut first) = connect(address).await;
        let (_other, mut second) = connect(address).await;
        // A text frame of five bytes, with a mask of zeros.
        let frame = Bytes::from_static(b"\x81\x85\0\0\0\0hello");
        send.send_data(frame, false).unwrap();
        for body in [&mut first, &mut second] {
            let mut read = Vec::new();
            while read.len() < 7 {
                read.extend_from_slice(&body.data().await.unwrap().unwrap());
            }
            assert_eq!(read, b"\x81\x05hello");
        }
    }

    #[tokio::test]
    async fn serves_the_page() {
        let address = start().await;
        let page = tls_client::get(address, "/").await;
        assert!(page.contains("<title>A chat</title>"), "{page}");
    }
}
