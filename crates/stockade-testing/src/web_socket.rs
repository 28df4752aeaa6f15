//! [`TestWebSocket`]: a WebSocket client.
//!
//! Source: RFC 6455.

use std::fmt::{self, Display};

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::StatusCode;
use http::header::{CONNECTION, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_core::BoxFuture;
use stockade_core::headers::{has_token, list_items, only};
use stockade_hardening::exchange::Exchange;
use stockade_hardening::fail::or_fail;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use crate::transport::Connection;
use crate::{TestClient, TestRequest, TestResponse};

/// A builder of a WebSocket handshake.
///
/// The handshake has no `Origin` unless you set one, like handshakes of clients
/// other than browsers.
#[derive(Debug)]
#[must_use = "a handshake is not sent until `connect` or `refused` is called"]
pub struct TestWebSocketRequest {
    request: TestRequest,
    key: String,
}

impl TestWebSocketRequest {
    pub(crate) fn new(request: TestRequest) -> Self {
        let key = generate_key();
        let request = request
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key);
        Self { request, key }
    }

    /// Adds a header.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Sets the `Origin`, such as `https://app.example`.
    ///
    /// # Panics
    /// Panics if the origin is not a valid header value.
    #[track_caller]
    pub fn origin(self, origin: impl AsRef<str>) -> Self {
        self.header("origin", origin)
    }

    /// Offers a subprotocol.
    ///
    /// # Panics
    /// Panics if the subprotocol is not a valid header value.
    #[track_caller]
    pub fn protocol(self, protocol: impl AsRef<str>) -> Self {
        self.header("sec-websocket-protocol", protocol)
    }

    /// Sets `Authorization: Bearer …`.
    ///
    /// # Panics
    /// Panics if the token is not a valid header value.
    #[track_caller]
    pub fn bearer(mut self, token: impl AsRef<str>) -> Self {
        self.request = self.request.bearer(token);
        self
    }

    /// Sends a cookie.
    ///
    /// # Panics
    /// Panics if the cookie is not valid in a header.
    #[track_caller]
    pub fn cookie(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.request = self.request.cookie(name, value);
        self
    }

    /// Adds pairs to the query, as [`TestRequest::query`] does.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized as pairs.
    #[track_caller]
    pub fn query(mut self, pairs: impl Serialize) -> Self {
        self.request = self.request.query(pairs);
        self
    }

    /// Sets the client address, as [`TestRequest::peer`] does.
    ///
    /// # Panics
    /// Panics if the address is malformed, or if the client was created with
    /// [`TestClient::live`].
    #[track_caller]
    pub fn peer(mut self, address: impl Display) -> Self {
        self.request = self.request.peer(address);
        self
    }

    /// Connects.
    ///
    /// # Panics
    /// Panics if the handshake is rejected. Also panics if a browser would
    /// reject the response, for example because of a subprotocol that was not
    /// offered. The message contains the whole response.
    pub async fn connect(self) -> TestWebSocket {
        self.connected().await
    }

    /// Boxed as `dyn`, like all I/O here. tungstenite is then compiled once, in
    /// this crate, instead of in each test. See `Server::serve` of
    /// stockade-server.
    fn connected(self) -> BoxFuture<'static, TestWebSocket> {
        Box::pin(async move {
            let client = self.request.client().clone();
            let key = self.key.clone();
            let (stream, connection) = or_fail(self.request.sent().await);
            let Some(connection) = connection else {
                let response = stream.into_response().await;
                response.exchange.fail("the WebSocket handshake was rejected");
            };
            let response = stream.into_response().await;
            check_accepted(&response.exchange, &key);
            let socket = WebSocketStream::from_raw_socket(connection, Role::Client, None).await;
            TestWebSocket { client, exchange: response.exchange, socket }
        })
    }

    /// Sends a handshake that must be rejected, and returns the response.
    ///
    /// # Panics
    /// Panics if the handshake is accepted.
    pub async fn refused(self) -> TestResponse {
        let (stream, _) = or_fail(self.request.sent().await);
        let is_open = stream.status() == StatusCode::SWITCHING_PROTOCOLS;
        let response = stream.into_response().await;
        if is_open {
            response.exchange.fail("the WebSocket handshake was not rejected");
        }
        response
    }
}

/// A message received from a WebSocket.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TestMessage {
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Bytes),
    /// A close frame with a code and a reason; 1005 means that the frame does
    /// not contain a code.
    ///
    /// Code 1014 (bad gateway) arrives as 1002, because tungstenite does not
    /// accept it.
    Close(u16, String),
    /// The connection ended without a close frame.
    End,
}

/// A WebSocket client. It answers pings while it waits for a message.
///
/// Dropping it ends the connection without the closing handshake.
pub struct TestWebSocket {
    client: TestClient,
    exchange: Exchange,
    socket: WebSocketStream<Connection>,
}

impl TestWebSocket {
    /// Returns the negotiated subprotocol.
    #[must_use]
    pub fn protocol(&self) -> Option<String> {
        self.exchange.header("sec-websocket-protocol")
    }

    /// Sends a text message.
    ///
    /// # Panics
    /// Panics if the connection has ended.
    pub async fn send_text(&mut self, text: impl Into<String>) {
        self.send(Message::text(text.into())).await;
    }

    /// Sends a value as a JSON text message.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized as JSON, or if the connection
    /// has ended.
    pub async fn send_json(&mut self, value: impl Serialize) {
        let text = or_fail(serde_json::to_string(&value));
        self.send(Message::text(text)).await;
    }

    /// Sends a binary message.
    ///
    /// # Panics
    /// Panics if the connection has ended.
    pub async fn send_binary(&mut self, bytes: impl Into<Bytes>) {
        self.send(Message::binary(bytes.into())).await;
    }

    /// Returns the next message, the close frame, or the end.
    ///
    /// # Panics
    /// Panics if the timeout expires, or if the data violates the WebSocket
    /// protocol.
    pub async fn receive(&mut self) -> TestMessage {
        self.next().await
    }

    fn next(&mut self) -> BoxFuture<'_, TestMessage> {
        Box::pin(async move {
            loop {
                let message = self.client.in_time("message", self.socket.next()).await;
                let message = or_fail(message.map_err(|error| error.in_exchange(&self.exchange)));
                return match message {
                    None => TestMessage::End,
                    Some(Ok(Message::Text(text))) => TestMessage::Text(text.as_str().to_owned()),
                    Some(Ok(Message::Binary(bytes))) => TestMessage::Binary(bytes),
                    Some(Ok(Message::Close(frame))) => {
                        let frame =
                            frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                        let (code, reason) = frame.unwrap_or((NO_CODE, String::new()));
                        TestMessage::Close(code, reason)
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                    Some(Err(error)) if is_end(&error) => TestMessage::End,
                    Some(Err(error)) => self.fail(format_args!("no message arrived: {error}")),
                };
            }
        })
    }

    /// Returns the next message, which must be text.
    ///
    /// # Panics
    /// Panics for anything else.
    pub async fn receive_text(&mut self) -> String {
        match self.receive().await {
            TestMessage::Text(text) => text,
            other => self.fail(format_args!("expected a text message, found {other:?}")),
        }
    }

    /// Deserializes the next message, which must be JSON text.
    ///
    /// # Panics
    /// Panics for anything else.
    pub async fn receive_json<T: DeserializeOwned>(&mut self) -> T {
        let text = self.receive_text().await;
        match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(error) => self.fail(format_args!("cannot parse {text:?}: {error}")),
        }
    }

    /// Returns the next message, which must be binary.
    ///
    /// # Panics
    /// Panics for anything else.
    pub async fn receive_binary(&mut self) -> Bytes {
        match self.receive().await {
            TestMessage::Binary(bytes) => bytes,
            other => self.fail(format_args!("expected a binary message, found {other:?}")),
        }
    }

    /// Returns the code and the reason of the next message, which must be a
    /// close frame; 1005 means that the frame does not contain a code.
    ///
    /// # Panics
    /// Panics for anything else.
    pub async fn receive_close(&mut self) -> (u16, String) {
        match self.receive().await {
            TestMessage::Close(code, reason) => (code, reason),
            other => self.fail(format_args!("expected a close frame, found {other:?}")),
        }
    }

    /// Closes with code 1000, and waits until the server has closed too. Drops
    /// earlier messages.
    ///
    /// # Panics
    /// Panics if the timeout expires.
    pub async fn close(self) {
        self.close_with(1000, "").await;
    }

    /// Closes with a code and a reason, and waits until the server has closed
    /// too. Returns the server's code and reason. Drops earlier messages.
    ///
    /// # Panics
    /// Panics if the timeout expires.
    pub async fn close_with(mut self, code: u16, reason: &str) -> (u16, String) {
        let reason = reason.to_owned().into();
        self.send_close(CloseFrame { code: code.into(), reason }).await;
        loop {
            match self.receive().await {
                TestMessage::Close(code, reason) => return (code, reason),
                TestMessage::End => self.fail("the connection ended without a close frame"),
                TestMessage::Text(_) | TestMessage::Binary(_) => {}
            }
        }
    }

    fn send(&mut self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let sent = self.client.in_time("room for a message", self.socket.send(message)).await;
            match or_fail(sent.map_err(|error| error.in_exchange(&self.exchange))) {
                Ok(()) => {}
                Err(error) => self.fail(format_args!("cannot send the message: {error}")),
            }
        })
    }

    fn send_close(&mut self, frame: CloseFrame) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let closing = self.socket.close(Some(frame));
            let closed = self.client.in_time("room for a close frame", closing).await;
            match or_fail(closed.map_err(|error| error.in_exchange(&self.exchange))) {
                Err(error) if !is_end(&error) => {
                    self.fail(format_args!("cannot close the connection: {error}"))
                }
                _ => {}
            }
        })
    }

    fn fail(&self, message: impl Display) -> ! {
        self.exchange.fail(message)
    }
}

impl fmt::Debug for TestWebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.exchange, f)
    }
}

/// Fails the test if a client must close the connection because of the
/// handshake response.
///
/// Source: RFC 6455, section 4.1 (rules 2 to 6 for the response).
fn check_accepted(exchange: &Exchange, key: &str) {
    let headers = &exchange.headers;
    if !only(headers, &UPGRADE).is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        exchange.fail("the handshake was accepted without the header `Upgrade: websocket`");
    }
    if !has_token(headers, &CONNECTION, "upgrade") {
        exchange.fail("the handshake was accepted without the header `Connection: Upgrade`");
    }
    exchange.assert_header("sec-websocket-accept", &derive_accept_key(key.as_bytes()));
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        exchange.fail(match exchange.asked.headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
            true => "the test client does not support the extension that the test offers",
            false => "the handshake was accepted with an extension that was not offered",
        });
    }
    let selected = exchange.header("sec-websocket-protocol");
    let is_offered = |selected: &str| {
        list_items(&exchange.asked.headers, &SEC_WEBSOCKET_PROTOCOL).any(|it| it == selected)
    };
    if selected.is_some_and(|selected| !is_offered(&selected)) {
        exchange.fail("the handshake was accepted with a subprotocol that was not offered");
    }
}

/// Returns true if the error only means that the connection has ended.
fn is_end(error: &tokio_tungstenite::tungstenite::Error) -> bool {
    use tokio_tungstenite::tungstenite::Error;
    use tokio_tungstenite::tungstenite::error::ProtocolError;
    matches!(
        error,
        Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Io(_)
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)
    )
}

/// The code that represents a close frame without a code.
///
/// Source: RFC 6455, section 7.4.1.
const NO_CODE: u16 = 1005;
