//! [`WebSocket`]: the handler's view of the connection, whole or split.

mod receiver;
mod sender;
mod sink;

use std::fmt;
use std::net::IpAddr;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use stockade_core::client::client_network;
use stockade_errors::ApiError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, SetOnce};

pub use self::receiver::Receiver;
pub use self::sender::Sender;
use self::sink::SinkState;
use crate::close::Close;
use crate::message::{IntoMessage, Message, Outgoing, SocketError};
use crate::options::WebSocketOptions;
use crate::waker_set::WakerSet;

/// A WebSocket connection: the argument of its handler.
///
/// The connection lives as long as the handler runs. When the handler returns,
/// the messages it has sent are delivered, and the connection ends with 1000.
///
/// The connection is a `Stream` of messages and a `Sink` for messages, and so
/// are its halves ([`split`](Self::split)).
///
/// ```
/// use stockade::ApiError;
/// use stockade::websockets::WebSocket;
///
/// async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
///     while let Some(text) = socket.recv_text().await {
///         socket.send(text?).await?;
///     }
///     Ok(())
/// }
/// ```
#[doc(alias = "websocket")]
// Spec: WebSocket routes.
#[derive(Debug)]
pub struct WebSocket {
    receiver: Receiver,
    sender: Sender,
}

impl WebSocket {
    /// Splits the connection to receive in one part of the handler while
    /// another part sends.
    ///
    /// **The receiver comes first.** This method hides `StreamExt::split` of
    /// the crate `futures`, which returns the sink first and the stream second.
    /// Swap the two names in code written for it:
    ///
    /// ```
    /// use stockade::websockets::WebSocket;
    ///
    /// async fn echo(socket: WebSocket) {
    ///     let (mut receiver, sender) = socket.split();
    ///     while let Some(Ok(text)) = receiver.recv_text().await {
    ///         if sender.send(text).await.is_err() {
    ///             break;
    ///         }
    ///     }
    /// }
    /// # let _ = stockade::RouteEntry::web_socket(echo);
    /// ```
    #[must_use]
    pub fn split(self) -> (Receiver, Sender) {
        (self.receiver, self.sender)
    }

    /// Returns the sending half. Clone it for other tasks.
    #[must_use]
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Waits for the next message; see [`Receiver::recv`].
    pub async fn recv(&mut self) -> Option<Result<Message, SocketError>> {
        self.receiver.recv().await
    }

    /// Waits for the next text; see [`Receiver::recv_text`].
    pub async fn recv_text(&mut self) -> Option<Result<String, SocketError>> {
        self.receiver.recv_text().await
    }

    /// Waits for the next text and deserializes it from JSON; see
    /// [`Receiver::recv_json`].
    pub async fn recv_json<T: DeserializeOwned>(&mut self) -> Option<Result<T, SocketError>> {
        self.receiver.recv_json().await
    }

    /// Sends a message; see [`Sender::send`].
    ///
    /// # Errors
    /// The errors of [`Sender::send`].
    pub async fn send(&self, message: impl IntoMessage) -> Result<(), SocketError> {
        self.sender.send(message).await
    }

    /// Ends the connection; see [`Sender::close`].
    pub async fn close(&self, code: u16, reason: &str) {
        self.sender.close(code, reason).await;
    }

    /// Returns the id of the connection.
    #[must_use]
    pub fn id(&self) -> SocketId {
        self.sender.id()
    }

    /// Returns the negotiated subprotocol, if any.
    #[must_use]
    pub fn protocol(&self) -> Option<&str> {
        self.sender.shared.protocol.as_deref()
    }

    /// Returns the pattern of the route, such as `/chat/:room`.
    #[must_use]
    pub fn route(&self) -> &str {
        self.sender.route()
    }

    /// Returns the client's close; see [`Receiver::closed_by_client`].
    #[must_use]
    pub fn closed_by_client(&self) -> Option<&Close> {
        self.receiver.closed_by_client()
    }
}

/// The id of a connection: 128 random bits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SocketId(u128);

impl SocketId {
    pub(crate) fn random() -> Result<Self, ApiError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
        Ok(Self(u128::from_ne_bytes(bytes)))
    }
}

impl fmt::Display for SocketId {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Parses the output of `Display`, to pass an id to another process.
impl FromStr for SocketId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

/// The state shared by the two halves and the driver of a connection.
pub(crate) struct Shared {
    id: SocketId,
    /// The client's network, for limits per client.
    client: Option<IpAddr>,
    route: Box<str>,
    protocol: Option<Box<str>>,
    pub(crate) options: Arc<WebSocketOptions>,
    /// True once the driver knows that the client is too slow.
    too_slow: AtomicBool,
    /// The bytes that wait for the client.
    unsent: AtomicUsize,
    /// The bytes that wait for the handler.
    pub(crate) unread: AtomicUsize,
    /// Notified when `unsent` decreases.
    pub(crate) room: Notify,
    /// The client's close frame, if it came first.
    pub(crate) closed: OnceLock<Close>,
    pub(crate) end: SetOnce<()>,
    /// Set when the server begins to shut down.
    shutdown: SetOnce<()>,
    /// True once a task waits for `shutdown`.
    awaits_shutdown: AtomicBool,
    /// Woken after a message is sent to `outgoing`. The driver does not poll
    /// the channel, because that would register a waker for each message.
    pub(crate) waker_set: Arc<WakerSet>,
}

impl Shared {
    /// Reserves `cost` bytes of the queue. Returns false if the queue is full.
    /// A message above the limit is accepted only into an empty queue.
    fn reserve(&self, cost: usize) -> bool {
        let limit = self.options.send_queue;
        let take = |unsent: usize| {
            let total = unsent.saturating_add(cost);
            (unsent == 0 || total as u64 <= limit).then_some(total)
        };
        self.unsent.fetch_update(Ordering::AcqRel, Ordering::Relaxed, take).is_ok()
    }

    /// Returns true if the queue accepts one more message from a sink.
    fn has_room(&self) -> bool {
        let unsent = self.unsent.load(Ordering::Acquire);
        unsent == 0 || (unsent as u64) < self.options.send_queue
    }

    /// Counts `cost` bytes as waiting, even above the limit.
    fn take_room(&self, cost: usize) {
        self.unsent.fetch_add(cost, Ordering::AcqRel);
    }

    /// Announces the shutdown. Returns false if no task waits for it, or if it
    /// was already announced.
    pub(crate) fn announce_shutdown(&self) -> bool {
        self.awaits_shutdown.load(Ordering::Acquire) && self.shutdown.set(()).is_ok()
    }

    /// Releases reserved bytes of the queue.
    pub(crate) fn release(&self, cost: usize) {
        let before = self.unsent.fetch_sub(cost, Ordering::AcqRel);
        // No sender waits while the queue is less than half full.
        if before as u64 > self.options.send_queue / 2 {
            self.room.notify_waiters();
        }
    }
}

/// The driver's ends of the channels and the shared state.
pub(crate) struct DriverEnd {
    pub(crate) messages: UnboundedSender<Result<Message, SocketError>>,
    pub(crate) outgoing: UnboundedReceiver<Outgoing>,
    pub(crate) shared: Arc<Shared>,
}

/// Creates a connection for a handler, and the driver's end.
pub(crate) fn pair(
    id: SocketId,
    options: &Arc<WebSocketOptions>,
    route: Box<str>,
    protocol: Option<Box<str>>,
    client: Option<IpAddr>,
) -> (WebSocket, DriverEnd) {
    let (to_handler, messages) = unbounded_channel();
    let (to_driver, outgoing) = unbounded_channel();
    let shared = Arc::new(Shared {
        id,
        client: client.map(client_network),
        route,
        protocol,
        options: Arc::clone(options),
        too_slow: AtomicBool::new(false),
        unsent: AtomicUsize::new(0),
        unread: AtomicUsize::new(0),
        room: Notify::new(),
        closed: OnceLock::new(),
        end: SetOnce::new(),
        shutdown: SetOnce::new(),
        awaits_shutdown: AtomicBool::new(false),
        waker_set: Arc::default(),
    });
    let receiver = Receiver { messages, outgoing: to_driver.clone(), shared: Arc::clone(&shared) };
    let sink = SinkState::default();
    let sender = Sender { outgoing: to_driver, shared: Arc::clone(&shared), sink };
    (WebSocket { receiver, sender }, DriverEnd { messages: to_handler, outgoing, shared })
}

/// The bytes that may wait for the handler before reading stops: 64 KiB.
pub(crate) const MAX_UNREAD: usize = 65_536;
