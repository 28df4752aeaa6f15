//! [`WebSocket`]: the connection as its handler has it, whole or split.

use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use stockade_core::__internal::client_network;
use stockade_errors::ApiError;
use stockade_validation::__internal::{SchemaExt, has_more_values, too_many_values};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, SetOnce};

use crate::close::Close;
use crate::frame::OpCode;
use crate::message::{IntoMessage, Message, Outgoing, Payload, SocketError, cost};
use crate::options::{SlowReader, WebSocketOptions};
use crate::sink::SinkState;
use crate::waker_set::{WakeReason, WakerSet};

/// A WebSocket connection: the argument of its handler.
///
/// The connection lives as long as the handler runs. When the handler returns,
/// the messages that it has sent are delivered, and the connection ends with
/// 1000.
///
/// It is a `Stream` of messages and a `Sink` for them, as its halves are
/// ([`split`](Self::split)).
///
/// ```
/// use stockade_core::ApiError;
/// use stockade_websockets::WebSocket;
///
/// async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
///     while let Some(text) = socket.recv_text().await {
///         socket.send(text?).await?;
///     }
///     Ok(())
/// }
/// ```
///
/// Spec: WebSocket routes.
#[derive(Debug)]
pub struct WebSocket {
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
}

impl WebSocket {
    /// Splits the connection, so that one part of the handler receives while another
    /// sends.
    #[must_use]
    pub fn split(self) -> (Receiver, Sender) {
        (self.receiver, self.sender)
    }

    /// Returns the half that sends, which other tasks may have a clone of.
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

    /// Waits for the next text and reads it as JSON; see [`Receiver::recv_json`].
    pub async fn recv_json<T: DeserializeOwned>(&mut self) -> Option<Result<T, SocketError>> {
        self.receiver.recv_json().await
    }

    /// Sends a message; see [`Sender::send`].
    ///
    /// # Errors
    /// Those of [`Sender::send`].
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

    /// Returns the subprotocol of the handshake, if there is one.
    #[must_use]
    pub fn protocol(&self) -> Option<&str> {
        self.sender.shared.protocol.as_deref()
    }

    /// Returns the pattern of the route, such as `/chat/:room`.
    #[must_use]
    pub fn route(&self) -> &str {
        self.sender.route()
    }

    /// Returns the close of the client; see [`Receiver::closed_by_client`].
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

/// The half of a connection that receives: a `Stream` of what
/// [`recv`](Self::recv) gives.
pub struct Receiver {
    messages: UnboundedReceiver<Result<Message, SocketError>>,
    outgoing: UnboundedSender<Outgoing>,
    pub(crate) shared: Arc<Shared>,
}

impl Receiver {
    /// Waits for the next message of the client; returns `None` when the connection
    /// has ended.
    ///
    /// An error comes before the `None` if the connection broke or was refused.
    /// While the handler does not receive, at most 64 KiB of messages (or one
    /// larger message) are read ahead; then the client has to wait.
    ///
    /// Dropping this future loses no message.
    pub async fn recv(&mut self) -> Option<Result<Message, SocketError>> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    pub(crate) fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, SocketError>>> {
        let received = ready!(self.messages.poll_recv(cx));
        if let Some(Ok(message)) = &received {
            let cost = cost(message.len());
            let before = self.shared.unread.fetch_sub(cost, Ordering::AcqRel);
            if before >= MAX_UNREAD && before - cost < MAX_UNREAD {
                self.resume_reading();
            }
        }
        Poll::Ready(received)
    }

    /// Waits for the next text, and skips all other messages.
    pub async fn recv_text(&mut self) -> Option<Result<String, SocketError>> {
        loop {
            match self.recv().await? {
                Ok(Message::Text(text)) => return Some(Ok(text)),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits for the next text and reads it as JSON, by the validation of the route
    /// if there is one.
    ///
    /// The connection goes on after [`SocketError::Json`],
    /// [`SocketError::Invalid`], [`SocketError::TooManyValues`] and
    /// [`SocketError::Failed`].
    pub async fn recv_json<T: DeserializeOwned>(&mut self) -> Option<Result<T, SocketError>> {
        let text = match self.recv_text().await? {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        let options = &*self.shared.options;
        let most = options.max_json_values;
        Some(match &options.validation {
            Some(schema) => schema
                .read_json_within(text.as_bytes(), &options.validation_options, most)
                .map_err(Into::into),
            None if has_more_values(text.as_bytes(), most) => {
                Err(too_many_values(text.as_bytes(), most).into())
            }
            None => serde_json::from_str(&text).map_err(SocketError::Json),
        })
    }

    /// Tells the driver that there is room for messages again.
    fn resume_reading(&self) {
        // The driver may have ended: then nothing is read any more.
        let _ = self.outgoing.send(Outgoing::ResumeReading);
        self.shared.waker_set.wake_for(WakeReason::Outgoing);
    }

    /// Returns the code and the reason with which the client ended the connection,
    /// once [`recv`](Self::recv) has returned `None`. `None` if this side was first,
    /// or there was no close frame.
    #[must_use]
    pub fn closed_by_client(&self) -> Option<&Close> {
        self.shared.closed.get()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // Further messages are read and discarded. Without reading, the pongs of
        // the client would not be seen either.
        self.shared.unread.store(0, Ordering::Release);
        self.resume_reading();
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

/// The half of a connection that sends. Clones send to the same client.
///
/// It is a `Sink` too: ready while the queue is not full
/// ([`WebSocketOptions::send_queue`]), so that each clone may exceed that by one
/// message. A message that is queued counts as flushed. Closing the sink ends the
/// connection as [`close`](Self::close) does, with 1000.
pub struct Sender {
    pub(crate) outgoing: UnboundedSender<Outgoing>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sink: SinkState,
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        let (outgoing, shared) = (self.outgoing.clone(), Arc::clone(&self.shared));
        Self { outgoing, shared, sink: SinkState::default() }
    }
}

impl Sender {
    /// Queues a message; waits while the queue is full
    /// ([`WebSocketOptions::send_queue`]).
    ///
    /// When this returns, the message is queued; the client may not have it yet.
    /// A future that is dropped before its end has sent nothing.
    ///
    /// # Errors
    /// [`SocketError::Closed`] when the connection has ended, and
    /// [`SocketError::Json`] when a value cannot be written.
    pub async fn send(&self, message: impl IntoMessage) -> Result<(), SocketError> {
        let outgoing = Outgoing::try_from(message.into_message()?)?;
        let cost = outgoing.cost();
        if !self.shared.reserve(cost) {
            self.wait_for_room(cost).await?;
        }
        self.push(outgoing)
    }

    /// Queues a message without waiting.
    ///
    /// # Errors
    /// [`SocketError::Full`] when the queue is full, else those of
    /// [`send`](Self::send).
    pub fn try_send(&self, message: impl IntoMessage) -> Result<(), SocketError> {
        self.try_push(message.into_message()?.try_into()?)
    }

    /// Queues a text that several connections share, without waiting. If the queue
    /// is full, [`SlowReader`] decides.
    pub(crate) fn share(&self, text: &Bytes) -> Result<(), SocketError> {
        let outcome = self.try_push(Outgoing::Text(Payload::Shared(text.clone())));
        if matches!(outcome, Err(SocketError::Full))
            && self.shared.options.slow_reader == SlowReader::Close
            && !self.shared.too_slow.swap(true, Ordering::Relaxed)
        {
            self.push(Outgoing::TooSlow)?;
        }
        outcome
    }

    /// Sends a ping without a payload. The pong counts as a sign of life, and is
    /// a message with [`WebSocketOptions::control_messages`].
    ///
    /// # Errors
    /// [`SocketError::Closed`] when the connection has ended, and
    /// [`SocketError::Full`] when the queue is full.
    pub fn ping(&self) -> Result<(), SocketError> {
        self.try_push(Outgoing::Control(OpCode::Ping, Bytes::new()))
    }

    /// Ends the connection after the messages that were sent before. Waits for the
    /// close frame of the client, for [`WebSocketOptions::close_timeout`] at most.
    /// Does nothing if the connection has ended already.
    ///
    /// [`Close::new`] says which codes and reasons can be sent.
    pub async fn close(&self, code: u16, reason: &str) {
        let close = Close::new(code, reason.to_owned());
        if self.push(Outgoing::Close(close)).is_ok() {
            self.ended().await;
        }
    }

    /// Waits until the connection has ended.
    pub async fn ended(&self) {
        self.shared.end.wait().await;
    }

    /// Returns true if messages can no longer be sent.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.outgoing.is_closed()
    }

    /// Returns the id of the connection.
    #[must_use]
    pub fn id(&self) -> SocketId {
        self.shared.id
    }

    /// Returns the pattern of the route, such as `/chat/:room`.
    #[must_use]
    pub fn route(&self) -> &str {
        &self.shared.route
    }

    /// Returns the network of the client, if its address is known.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.shared.client
    }

    #[cold]
    async fn wait_for_room(&self, cost: usize) -> Result<(), SocketError> {
        loop {
            let mut room = pin!(self.shared.room.notified());
            // From here on no notification is missed.
            room.as_mut().enable();
            if self.is_closed() {
                return Err(SocketError::Closed);
            }
            if self.shared.reserve(cost) {
                return Ok(());
            }
            room.await;
        }
    }

    fn try_push(&self, outgoing: Outgoing) -> Result<(), SocketError> {
        if !self.shared.reserve(outgoing.cost()) {
            return Err(if self.is_closed() { SocketError::Closed } else { SocketError::Full });
        }
        self.push(outgoing)
    }

    pub(crate) fn push(&self, outgoing: Outgoing) -> Result<(), SocketError> {
        self.outgoing.send(outgoing).map_err(|_| SocketError::Closed)?;
        self.shared.waker_set.wake_for(WakeReason::Outgoing);
        Ok(())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

/// The state that the two halves and the driver of a connection share.
pub(crate) struct Shared {
    id: SocketId,
    /// The network of the client, by which limits count.
    client: Option<IpAddr>,
    route: Box<str>,
    protocol: Option<Box<str>>,
    pub(crate) options: Arc<WebSocketOptions>,
    /// True once the driver was told that the client is too slow.
    too_slow: AtomicBool,
    /// The bytes that wait for the client.
    unsent: AtomicUsize,
    /// The bytes that wait for the handler.
    pub(crate) unread: AtomicUsize,
    /// Notified when `unsent` falls.
    pub(crate) room: Notify,
    /// The close frame of the client, if it came first.
    pub(crate) closed: OnceLock<Close>,
    pub(crate) end: SetOnce<()>,
    /// Woken after a message was put into `outgoing`. The driver does not poll the
    /// channel, because that would register a waker for each message.
    pub(crate) waker_set: Arc<WakerSet>,
}

impl Shared {
    /// Reserves `cost` bytes of the queue; false if it is full. A message above the
    /// limit may have the whole queue for itself.
    fn reserve(&self, cost: usize) -> bool {
        let limit = self.options.send_queue;
        let take = |unsent: usize| {
            let total = unsent.saturating_add(cost);
            (unsent == 0 || total as u64 <= limit).then_some(total)
        };
        self.unsent.fetch_update(Ordering::AcqRel, Ordering::Relaxed, take).is_ok()
    }

    /// Returns true if the queue takes one more message of a sink.
    pub(crate) fn has_room(&self) -> bool {
        let unsent = self.unsent.load(Ordering::Acquire);
        unsent == 0 || (unsent as u64) < self.options.send_queue
    }

    /// Counts `cost` bytes as waiting, also above the limit.
    pub(crate) fn take_room(&self, cost: usize) {
        self.unsent.fetch_add(cost, Ordering::AcqRel);
    }

    /// Gives reserved bytes of the queue back.
    pub(crate) fn release(&self, cost: usize) {
        let before = self.unsent.fetch_sub(cost, Ordering::AcqRel);
        // No sender waits while the queue is less than half full.
        if before as u64 > self.options.send_queue / 2 {
            self.room.notify_waiters();
        }
    }
}

/// The driver's ends of the channels.
pub(crate) struct DriverEnd {
    pub(crate) messages: UnboundedSender<Result<Message, SocketError>>,
    pub(crate) outgoing: UnboundedReceiver<Outgoing>,
    pub(crate) shared: Arc<Shared>,
}

/// Makes a connection for a handler, and the end for its driver.
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
        waker_set: Arc::default(),
    });
    let receiver = Receiver { messages, outgoing: to_driver.clone(), shared: Arc::clone(&shared) };
    let sink = SinkState::default();
    let sender = Sender { outgoing: to_driver, shared: Arc::clone(&shared), sink };
    (WebSocket { receiver, sender }, DriverEnd { messages: to_handler, outgoing, shared })
}

/// The bytes that may wait for the handler before reading stops: 64 KiB.
pub(crate) const MAX_UNREAD: usize = 65_536;
