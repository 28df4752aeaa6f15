//! [`Sender`]: the sending half of a connection.

use std::fmt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;

use super::sink::SinkState;
use super::{Shared, SocketId};
use crate::close::Close;
use crate::frame::OpCode;
use crate::message::{IntoMessage, Outgoing, Payload, SocketError};
use crate::options::SlowReader;
use crate::waker_set::WakeReason;

/// The sending half of a connection. Clones send to the same client.
///
/// It is also a `Sink`. The sink is ready while the queue is not full
/// ([`send_queue`]); each clone may therefore exceed the limit by one message.
/// A queued message counts as flushed. Closing the sink ends the connection
/// like [`close`](Self::close) with 1000.
///
/// [`send_queue`]: crate::WebSocketOptions::send_queue
pub struct Sender {
    pub(super) outgoing: UnboundedSender<Outgoing>,
    pub(super) shared: Arc<Shared>,
    pub(super) sink: SinkState,
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        let (outgoing, shared) = (self.outgoing.clone(), Arc::clone(&self.shared));
        Self { outgoing, shared, sink: SinkState::default() }
    }
}

impl Sender {
    /// Queues a message. Waits while the queue is full
    /// ([`WebSocketOptions::send_queue`](crate::WebSocketOptions::send_queue)).
    ///
    /// When this returns, the message is queued, but the client may not have
    /// received it. Dropping the future early sends nothing.
    ///
    /// # Errors
    /// [`SocketError::Closed`] if the connection has ended, and
    /// [`SocketError::Json`] if a value cannot be serialized.
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
    /// [`SocketError::Full`] if the queue is full, or the errors of
    /// [`send`](Self::send).
    pub fn try_send(&self, message: impl IntoMessage) -> Result<(), SocketError> {
        self.try_push(message.into_message()?.try_into()?)
    }

    /// Queues a text shared by several connections, without waiting.
    /// [`SlowReader`] determines what happens if the queue is full.
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

    /// Sends a ping without a payload. The pong counts as a sign of life. With
    /// [`WebSocketOptions::control_messages`](crate::WebSocketOptions::control_messages),
    /// the handler receives it as a message.
    ///
    /// # Errors
    /// [`SocketError::Closed`] if the connection has ended, and
    /// [`SocketError::Full`] if the queue is full.
    pub fn ping(&self) -> Result<(), SocketError> {
        self.try_push(Outgoing::Control(OpCode::Ping, Bytes::new()))
    }

    /// Ends the connection after the messages sent so far. Waits for the
    /// client's close frame, at most for [`WebSocketOptions::close_timeout`].
    /// Does nothing if the connection has already ended.
    ///
    /// [`Close::new`] documents the valid codes and reasons.
    ///
    /// [`WebSocketOptions::close_timeout`]:
    /// crate::WebSocketOptions::close_timeout
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

    /// Waits until the server begins to shut down, which gives the handler time
    /// for its last messages. The handler has
    /// [`WebSocketOptions::close_timeout`] to send them and end the connection,
    /// for instance with [`close`](Self::close) and [`Close::GOING_AWAY`].
    /// After that time the connection ends with 1001. If no task has called
    /// this, the connection ends with 1001 immediately.
    ///
    /// Never returns on a host that cannot announce its shutdown.
    ///
    /// ```
    /// use stockade::websockets::{Close, WebSocket};
    ///
    /// async fn listen(mut socket: WebSocket) {
    ///     let sender = socket.sender().clone();
    ///     tokio::select! {
    ///         () = sender.shutting_down() => {
    ///             let _ = sender.send("come back later").await;
    ///             sender.close(Close::GOING_AWAY, "").await;
    ///         }
    ///         _ = socket.recv() => {}
    ///     }
    /// }
    /// # let _ = stockade::RouteEntry::web_socket(listen);
    /// ```
    ///
    /// [`WebSocketOptions::close_timeout`]:
    /// crate::WebSocketOptions::close_timeout
    pub async fn shutting_down(&self) {
        self.shared.awaits_shutdown.store(true, Ordering::Release);
        self.shared.shutdown.wait().await;
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

    /// Returns the client's network, if its address is known.
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

    pub(super) fn push(&self, outgoing: Outgoing) -> Result<(), SocketError> {
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
