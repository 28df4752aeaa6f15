//! [`Receiver`]: the receiving half of a connection.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use serde::de::DeserializeOwned;
use stockade_json::has_more_values;
use stockade_validation::Schema;
use stockade_validation::read_internals::too_many_values;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::{MAX_UNREAD, Shared};
use crate::close::Close;
use crate::message::{Message, Outgoing, SocketError, cost};
use crate::waker_set::WakeReason;

/// The receiving half of a connection: a `Stream` of the same items as
/// [`recv`](Self::recv).
pub struct Receiver {
    pub(super) messages: UnboundedReceiver<Result<Message, SocketError>>,
    pub(super) outgoing: UnboundedSender<Outgoing>,
    pub(crate) shared: Arc<Shared>,
}

impl Receiver {
    /// Waits for the client's next message. Returns `None` when the connection
    /// has ended.
    ///
    /// If the connection broke or was rejected, an error precedes the `None`.
    /// While the handler does not receive, at most 64 KiB of messages (or one
    /// larger message) are read ahead; after that the client has to wait.
    ///
    /// Dropping this future does not lose a message.
    pub async fn recv(&mut self) -> Option<Result<Message, SocketError>> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    pub(super) fn poll_recv(
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

    /// Waits for the next text and skips all other messages.
    pub async fn recv_text(&mut self) -> Option<Result<String, SocketError>> {
        loop {
            match self.recv().await? {
                Ok(Message::Text(text)) => return Some(Ok(text)),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits for the next text, validates it with the route's schema if there
    /// is one, and deserializes it from JSON.
    ///
    /// The connection survives [`SocketError::Json`], [`SocketError::Invalid`],
    /// [`SocketError::TooManyValues`] and [`SocketError::Failed`].
    pub async fn recv_json<T: DeserializeOwned>(&mut self) -> Option<Result<T, SocketError>> {
        self.recv_json_by(None).await
    }

    /// Reads the next text as JSON, with this schema or the route's validation.
    pub(crate) async fn recv_json_by<T: DeserializeOwned>(
        &mut self,
        schema: Option<&Schema>,
    ) -> Option<Result<T, SocketError>> {
        let text = match self.recv_text().await? {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        let options = &*self.shared.options;
        let most = options.max_json_values;
        Some(match schema.or(options.validation.as_ref()) {
            Some(schema) => schema
                .read_json_within(text.as_bytes(), &options.validation_options, most)
                .map_err(Into::into),
            None if has_more_values(text.as_bytes(), most) => {
                Err(too_many_values(text.as_bytes(), most).into())
            }
            None => serde_json::from_str(&text).map_err(SocketError::Json),
        })
    }

    /// Notifies the driver that there is room for messages again.
    fn resume_reading(&self) {
        // If the driver has ended, nothing more is read.
        let _ = self.outgoing.send(Outgoing::ResumeReading);
        self.shared.waker_set.wake_for(WakeReason::Outgoing);
    }

    /// Returns the client's close code and reason, once [`recv`](Self::recv)
    /// has returned `None`. Returns `None` if this side closed first, or if the
    /// client did not send a close frame.
    #[must_use]
    pub fn closed_by_client(&self) -> Option<&Close> {
        self.shared.closed.get()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // Further messages are read and discarded. Reading continues because
        // the client's pongs would otherwise be missed.
        self.shared.unread.store(0, Ordering::Release);
        self.resume_reading();
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
