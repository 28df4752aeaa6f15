//! WebSockets of stockade: handshake, codec, session, rooms. Experimental.
//!
//! The handler of a WebSocket route is an `async fn` that takes a [`WebSocket`]
//! and the usual extractors. Before the handler runs, the handshake is checked
//! with its origin, then all middleware runs. A refusal by one of them is an
//! answer with a JSON body, and no connection is made. A handler that takes a
//! [`WebSocketUpgrade`] instead decides itself, and refuses by any reply. One that
//! takes a [`TypedWebSocket`] names the types of its messages.
//!
//! # What a client may not do
//!
//! | Client | Ends with | Option |
//! |---|---|---|
//! | comes from a page of another origin | 403 | [`allowed_origins`] |
//! | opens too many connections | 429, 503 | `ws_max_connections`, `ws_max_connections_per_client` of the router |
//! | sends a message that is too large, whole or in fragments | 1009 | [`max_payload`] |
//! | sends a text that is not UTF-8 | 1007, at the first wrong byte | – |
//! | breaks the protocol | 1002 | – |
//! | sends too many messages in a second | 1008 | [`max_rate`] |
//! | sends more than the handler takes | it waits | – |
//! | does not read its answers | its messages wait; then the connection is cut | [`send_queue`], [`write_timeout`] |
//! | does not read what goes to a room | 1008 | [`slow_reader`] |
//! | vanishes without a word | the connection is forgotten | [`ping_interval`], [`ping_timeout`] |
//! | does not answer a close frame | the connection is cut | [`close_timeout`] |
//!
//! The buffers of a connection exist only while bytes are on their way.
//!
//! # Compression
//!
//! Messages are compressed by permessage-deflate (RFC 7692) with the feature
//! `ws-compression`, for routes with `WebSocketOptions::compression` and clients that offer
//! it. [`max_payload`] bounds the decompressed bytes while they are decompressed, and no
//! window is kept between messages unless `Deflate::context_takeover` is on. Messages below
//! 64 bytes are sent as they are.
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
//! # Rooms of many processes
//!
//! [`Rooms`] know the members of one process. With a [`Backplane`] a broadcast reaches
//! those of all processes; the feature `redis` of the facade has one, and a
//! [`MemoryHub`] joins several `Rooms` of a test. What a backplane could not deliver is
//! told to [`Rooms::on_gap`], and [`Rooms::try_broadcast`] fails for what it does not
//! take.
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
//! An own backplane has to publish; all else has defaults:
//!
//! ```
//! use stockade::websockets::{Audience, Backplane, PublishReceipt, RoomLimits, Rooms, SocketId};
//! use tokio::sync::broadcast::Sender;
//!
//! /// Gives texts to a task that sends them to the other processes.
//! struct ToOthers(Sender<(String, Vec<u8>)>);
//!
//! impl Backplane for ToOthers {
//!     fn publish(
//!         &self,
//!         audience: Audience<'_>,
//!         text: &stockade::bytes::Bytes,
//!         _except: Option<SocketId>,
//!     ) -> PublishReceipt {
//!         // Nobody may be listening yet.
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
//! Choices where the specification is silent:
//!
//! - A WebSocket handler is an `async fn` of a `WebSocket` and extractors. The
//!   connection lives as long as the handler runs, and an error of an extractor
//!   answers the handshake.
//! - A path may have a WebSocket beside its methods. A GET that is no handshake
//!   and has no route of its own gets 426, other methods 405.
//! - A WebSocket counts as one of the server's `max_connections` until it ends;
//!   on HTTP/2 it is a request of its connection.
//! - Before a client's close frame or mistake is acted on, the handler answers
//!   the messages that came before it.
//! - A handler of a WebSocket that takes a `ResponseWriter` is a mistake of
//!   construction.
//! - On a host that cannot hand over its connections, a valid handshake gets 400
//!   and is logged at debug level. A 501 would let every client write lines at
//!   error level.
//! - The close frame of a shutdown does not wait for queued messages, unless the handler
//!   has asked for the shutdown ([`Sender::shutting_down`]).
//! - A text-only route passes the Autobahn suite but for 1.2.1 to 1.2.8, which
//!   want binary messages back.
//!
//! Spec: WebSocket routes.

// Where things are:
// - `handshake`, `origin`: the checks before the upgrade. Pure functions.
// - `handler`, `upgrade`, `options`: the handler of a route, its arguments and its
//   options.
// - `frame`, `utf8`, `decoder`, `close`: the codec. Pure functions. Hot. `deflate/`: the
//   compression of messages.
// - `session`: one connection with its handler. Hot. `send_queue`, `timeouts`,
//   `token_bucket`, `waker_set`: its parts.
// - `socket`, `message`: `WebSocket`, `Receiver`, `Sender`, `Message`; `typed`: the
//   same with types for the messages.
// - `rooms/`, `limits`: groups and counts of connections; `rooms/backplane`: what joins
//   the rooms of several processes, `rooms/memory`: the one for tests. `loopback`: a
//   connection for those.
//
// The codec is our own, because tungstenite buffers whole frames and brings `rand`.
// ARCHITECTURE.md has the figures, in "Beyond the specification"; `tests/tungstenite`
// compares both codecs.

mod close;
mod decoder;
#[cfg(feature = "compression")]
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
#[cfg(feature = "compression")]
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

/// Items for the other crates of stockade. They carry no promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::handler::web_socket_handler;
    pub use crate::limits::Connections;
    pub use crate::loopback::Loopback;
}
