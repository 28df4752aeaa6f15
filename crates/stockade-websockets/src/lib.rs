//! WebSockets for stockade: handshake, codec, session and rooms. Experimental.
//!
//! The handler of a WebSocket route is an `async fn` that takes a [`WebSocket`]
//! and the usual extractors. The handshake, including its origin, is checked
//! first; then all middleware runs. If one of them rejects the request, the
//! client gets a JSON error and no connection is made. A handler that takes a
//! [`WebSocketUpgrade`] decides whether to accept the handshake, and can reject
//! it with any response. A handler that takes a [`TypedWebSocket`] declares the
//! types of its messages.
//!
//! # Protection against clients
//!
//! | Client | Outcome | Option |
//! |---|---|---|
//! | connects from another origin | 403 | [`allowed_origins`] |
//! | opens too many connections | 429, 503 | `ws_max_connections`, `ws_max_connections_per_client` of the router |
//! | sends a message that is too large, whole or in fragments | 1009 | [`max_payload`] |
//! | sends a text that is not UTF-8 | 1007, at the first invalid byte | – |
//! | breaks the protocol | 1002 | – |
//! | sends too many messages per second | 1008 | [`max_rate`] |
//! | sends faster than the handler receives | must wait | – |
//! | does not read its messages | they are queued; then the connection is cut | [`send_queue`], [`write_timeout`] |
//! | does not read the messages of a room | 1008 | [`slow_reader`] |
//! | vanishes silently | the connection is dropped | [`ping_interval`], [`ping_timeout`] |
//! | does not answer a close frame | the connection is cut | [`close_timeout`] |
//!
//! A connection has buffers only while bytes are in transit.
//!
//! # Compression
//!
//! The feature `ws-compression` compresses messages with permessage-deflate
//! (RFC 7692). It applies to routes with `WebSocketOptions::compression` and
//! clients that offer it. [`max_payload`] limits the decompressed bytes during
//! decompression. No window survives between messages unless
//! `Deflate::context_takeover` is on. Messages below 64 bytes are not
//! compressed.
//!
//! [`allowed_origins`]: WebSocketOptions#structfield.allowed_origins
//! [`max_payload`]: WebSocketOptions#structfield.max_payload
//! [`max_rate`]: WebSocketOptions#structfield.max_rate
//! [`send_queue`]: WebSocketOptions#structfield.send_queue
//! [`slow_reader`]: WebSocketOptions#structfield.slow_reader
//! [`ping_interval`]: WebSocketOptions#structfield.ping_interval
//! [`ping_timeout`]: WebSocketOptions#structfield.ping_timeout
//! [`write_timeout`]: WebSocketOptions#structfield.write_timeout
//! [`close_timeout`]: WebSocketOptions#structfield.close_timeout
//!
//! # Rooms across several processes
//!
//! [`Rooms`] contain the members of one process. With a [`Backplane`], a
//! broadcast reaches the members in all processes. The feature `redis` of the
//! facade provides a backplane; a [`MemoryHub`] connects several `Rooms` in a
//! test. [`Rooms::on_gap`] reports messages that a backplane could not deliver.
//! [`Rooms::try_broadcast`] fails if the backplane does not accept a message.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), stockade::ApiError> {
//! use stockade::websockets::{Audience, MemoryHub, Order, RoomLimits, Rooms};
//!
//! let hub = MemoryHub::new(Order::Room);
//! let here = Rooms::with_backplane(RoomLimits::new(), hub.backplane());
//! let there = Rooms::with_backplane(RoomLimits::new(), hub.backplane());
//! there.broadcast(Audience::Room("lobby"), "hello");
//! assert_eq!(here.count_everywhere("lobby").await?, 0);
//! # Ok(())
//! # }
//! ```
//!
//! A custom backplane only has to implement `publish`:
//!
//! ```
//! use stockade::websockets::{Audience, Backplane, PublishReceipt, RoomLimits, Rooms, SocketId};
//! use tokio::sync::broadcast::Sender;
//!
//! /// Passes texts to a task that sends them to the other processes.
//! struct ToOthers(Sender<(String, Vec<u8>)>);
//!
//! impl Backplane for ToOthers {
//!     fn publish(
//!         &self,
//!         audience: Audience<'_>,
//!         text: &stockade::bytes::Bytes,
//!         _except: Option<SocketId>,
//!     ) -> PublishReceipt {
//!         // There may be no receiver yet.
//!         let _ = self.0.send((audience.to_string(), text.to_vec()));
//!         PublishReceipt::SENT
//!     }
//! }
//!
//! let (sender, mut sent) = tokio::sync::broadcast::channel(16);
//! let rooms = Rooms::with_backplane(RoomLimits::new(), ToOthers(sender));
//! rooms.broadcast(Audience::All, "hello");
//! assert_eq!(sent.try_recv(), Ok(("all members".to_owned(), b"hello".to_vec())));
//! ```
//!
//! # Beyond the specification
//!
//! Choices that the specification leaves open:
//!
//! - A WebSocket handler is an `async fn` that takes a `WebSocket` and
//!   extractors. The connection lives as long as the handler runs. An extractor
//!   error is the response to the handshake.
//! - A path may have a WebSocket in addition to its methods. If the path has no
//!   GET route, a GET that is not a handshake gets 426; other methods get 405.
//! - A WebSocket counts against the server's `max_connections` until it ends.
//!   On HTTP/2, it counts as one request of its connection.
//! - The handler can respond to all earlier messages before a client's close
//!   frame or violation takes effect.
//! - A WebSocket handler that takes a `ResponseWriter` is a configuration
//!   error.
//! - If the host cannot hand over its connections, a valid handshake gets 400
//!   and is logged at debug level. A 501 would let any client fill the log with
//!   error-level lines.
//! - The close frame of a shutdown does not wait for queued messages, unless
//!   the handler waits for the shutdown ([`Sender::shutting_down`]).
//! - A text-only route passes the Autobahn suite except for 1.2.1 to 1.2.8,
//!   which expect binary messages back.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: WebSocket routes.

// Module overview:
// - `handshake`, `origin`: the checks before the upgrade. Pure functions.
// - `handler`, `upgrade`, `options`: the handler of a route, its arguments and
//   its options.
// - `frame`, `utf8`, `decoder`, `close`: the codec. Pure functions. Hot.
//   `deflate/`: message compression.
// - `session`: one connection with its handler. Hot. `send_queue`, `timeouts`,
//   `token_bucket`, `waker_set`: its parts.
// - `socket`, `message`: `WebSocket`, `Receiver`, `Sender`, `Message`; `typed`:
//   variants with typed messages.
// - `rooms/`, `limits`: groups and counts of connections. `rooms/backplane`
//   connects the rooms of several processes; `rooms/memory` is a backplane for
//   tests. `loopback`: a connection for tests of backplanes.
//
// This crate has its own codec because tungstenite buffers whole frames and
// depends on `rand`. docs/decisions/045-websocket-codec.md has the figures;
// `tests/tungstenite` compares both codecs.

mod close;
mod decoder;
#[cfg(feature = "ws-compression")]
mod deflate;
mod frame;
mod handler;
#[doc(hidden)]
pub mod handshake;
mod limits;
mod loopback;
mod message;
mod options;
mod origin;
mod rooms;
mod send_queue;
mod session;
mod socket;
mod timeouts;
mod token_bucket;
mod typed;
mod upgrade;
mod utf8;
mod waker_set;

#[cfg(test)]
mod tests;

pub use close::Close;
#[cfg(feature = "ws-compression")]
pub use deflate::Deflate;
pub use message::{IntoMessage, Message, SocketError};
pub use options::{SlowReader, WebSocketOptions};
pub use rooms::{
    Audience, Backplane, BackplaneFuture, BroadcastError, DeliveryGap, History, HistoryEntry,
    Member, MemoryBackplane, MemoryHub, Order, Presence, PublishReceipt, RoomLimits, Rooms,
    WeakRooms,
};
pub use socket::{Receiver, Sender, SocketId, WebSocket};
pub use typed::{TypedReceiver, TypedSender, TypedWebSocket};
pub use upgrade::WebSocketUpgrade;

/// Items for the other stockade crates, without a promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::handler::web_socket_handler;
    pub use crate::limits::Connections;
    pub use crate::loopback::Loopback;
}
