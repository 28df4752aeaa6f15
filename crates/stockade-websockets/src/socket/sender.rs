//! [`Sender`]: the half of a connection that sends.

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

/// The half of a connection that sends. Clones send to the same client.
///
/// It is a `Sink` too: ready while the queue is not full ([`send_queue`]), so
/// that each clone may exceed that by one message. A message that is queued
/// counts as flushed. Closing the sink ends the connection as
/// [`close`](Self::close) does, with 1000.
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
    /// Queues a message; waits while the queue is full
    /// ([`WebSocketOptions::send_queue`](crate::WebSocketOptions::send_queue)(crate::WebSocketOptions::send_queue)).
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
    /// a message with [`WebSocketOptions::control_messages`](crate::WebSocketOptions::control_messages).
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
    ///
    /// [`WebSocketOptions::close_timeout`]: crate::WebSocketOptions::close_timeout
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

    /// Waits until the server begins to shut down, so that the handler may send its
    /// last messages. The handler has [`WebSocketOptions::close_timeout`] for them, and
    /// ends the connection itself, by [`close`](Self::close) with
    /// [`Close::GOING_AWAY`] for instance; after that time the connection ends with 1001.
    /// Where nobody has called this, the connection ends with 1001 at once.
    ///
    /// On a host that cannot announce its shutdown this never returns.
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
    /// [`WebSocketOptions::close_timeout`]: crate::WebSocketOptions::close_timeout
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
