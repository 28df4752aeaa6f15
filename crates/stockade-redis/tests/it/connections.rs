//! In-process connections to an application: a WebSocket and an event stream.

use http::Method;
use stockade_core::upgrade::{Switch, Upgrade, Upgraded};
use stockade_core::{HttpBody, Request, Response};
use stockade_routing::App;
use tokio::io::{AsyncReadExt as _, DuplexStream};

/// Sends a request with one header.
pub(crate) async fn send(
    app: &App,
    method: Method,
    path: &str,
    (name, value): (&str, &str),
) -> Response {
    let request = http::Request::builder().method(method).uri(path).header(name, value);
    app.handle(Request::from(request.body(HttpBody::empty()).unwrap())).await
}

/// The client end of a WebSocket. It parses frames directly: server frames have
/// no mask, and these are short.
pub(crate) struct Socket(DuplexStream);

impl Socket {
    /// Connects to `/socket` with an extra header.
    pub(crate) async fn open(app: &App, (name, value): (&str, &str)) -> Self {
        let request = http::Request::get("/socket")
            .header("host", "localhost")
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
            .header(name, value)
            .extension(Upgrade::http1());
        let request = request.body(HttpBody::empty()).unwrap();
        let mut response = app.handle(Request::from(request)).await;
        let switch = Switch::take(&mut response).unwrap();
        let (client, server) = tokio::io::duplex(65_536);
        tokio::spawn(switch.run(Upgraded::new(server)));
        Self(client)
    }

    /// Returns the next text message.
    pub(crate) async fn text(&mut self) -> String {
        let (opcode, payload) = self.frame().await;
        assert_eq!(opcode, TEXT, "{payload:?}");
        String::from_utf8(payload).unwrap()
    }

    /// Returns the code of the close frame that comes next.
    pub(crate) async fn close_code(&mut self) -> u16 {
        let (opcode, payload) = self.frame().await;
        assert_eq!(opcode, CLOSE, "{payload:?}");
        u16::from_be_bytes([payload[0], payload[1]])
    }

    /// Returns the opcode and the payload of the next frame, except pings.
    async fn frame(&mut self) -> (u8, Vec<u8>) {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).await.unwrap();
            let mut payload = vec![0; head[1].into()];
            self.0.read_exact(&mut payload).await.unwrap();
            match head[0] & 0x0f {
                PING => {}
                opcode => return (opcode, payload),
            }
        }
    }
}

// Source: RFC 6455, section 5.2.
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;

/// An event stream.
pub(crate) struct Events(HttpBody);

impl Events {
    /// Opens `/events` with an extra header.
    pub(crate) async fn open(app: &App, header: (&str, &str)) -> Self {
        let response = send(app, Method::GET, "/events", header).await;
        assert_eq!(response.status(), 200);
        Self(response.into_body())
    }

    /// Reads until this text arrives.
    pub(crate) async fn until(&mut self, text: &str) {
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains(text) {
            read.extend(self.0.chunk().await.unwrap().unwrap());
        }
    }

    /// Waits for the end of the stream. Comments may come first.
    pub(crate) async fn end(&mut self) {
        while let Some(piece) = self.0.chunk().await.unwrap() {
            assert!(piece.starts_with(b":"), "{piece:?}");
        }
    }
}
