//! [`Connection`]: a connection that stays open, and the messages that arrive on
//! it.
//!
//! Source: RFC 6455 (WebSockets); the HTML standard (server-sent events).

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use stockade_core::HttpBody;
use stockade_core::upgrade::{Switch, Upgraded};
use tokio::io::DuplexStream;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

/// A connection that stays open.
pub(super) enum Connection {
    WebSocket(Box<WebSocketStream<DuplexStream>>),
    /// The body of a response with server-sent events.
    Events(HttpBody),
}

impl Connection {
    /// Accepts the WebSocket of a response.
    pub(super) async fn open(switch: Switch) -> Self {
        let (client, server) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(switch.run(Upgraded::new(server)));
        let socket = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        Self::WebSocket(Box::new(socket))
    }

    /// Sends a text message. Does nothing for events, or if the connection has
    /// ended: the test then receives nothing.
    pub(super) async fn send(&mut self, text: String) {
        if let Self::WebSocket(socket) = self {
            let _ = timeout(PATIENCE, socket.send(Message::text(text))).await;
        }
    }

    /// Returns the messages that have arrived. A WebSocket has delivered all of
    /// them when it answers a ping; events end with a pause.
    pub(super) async fn messages(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        match self {
            Self::WebSocket(socket) => {
                for _ in 0..PINGS {
                    let ping = Message::Ping(b"tenants".as_slice().into());
                    if !matches!(timeout(PATIENCE, socket.send(ping)).await, Ok(Ok(()))) {
                        break;
                    }
                    while let Ok(Some(Ok(message))) = timeout(PATIENCE, socket.next()).await {
                        match message {
                            Message::Pong(_) => break,
                            Message::Text(text) => found.push(text.as_str().to_owned()),
                            Message::Binary(bytes) => {
                                found.push(String::from_utf8_lossy(&bytes).into_owned());
                            }
                            _ => {}
                        }
                    }
                }
            }
            Self::Events(body) => {
                while found.len() < MAX_PIECES
                    && let Ok(Some(Ok(piece))) =
                        timeout(PAUSE, body.chunk()).await.map(Result::transpose)
                {
                    found.push(String::from_utf8_lossy(&piece).into_owned());
                }
            }
        }
        found
    }
}

/// The size of the pipe in memory.
const PIPE_BYTES: usize = 65_536;

/// The number of pings. A pong may overtake messages that wait in a queue.
const PINGS: usize = 3;

/// The maximum number of pieces of events that are read at once.
const MAX_PIECES: usize = 1_000;

/// The timeout for the answer to a ping.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest pause between events.
const PAUSE: Duration = Duration::from_millis(300);
