//! `Stream` and `Sink` for a connection and its halves.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_sink::Sink;

use super::{Receiver, Sender, WebSocket};
use crate::close::Close;
use crate::message::{Message, Outgoing, SocketError};

/// The state that a [`Sender`] needs as a sink.
#[derive(Default)]
pub(crate) struct SinkState {
    /// The pending future: room in the queue, or the end of the connection.
    waiting: Option<Waiting>,
    /// True once the sink has requested the close.
    is_closing: bool,
}

/// Boxed, because a sink that never waits needs no future.
type Waiting = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

impl fmt::Debug for SinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SinkState").field("is_closing", &self.is_closing).finish_non_exhaustive()
    }
}

impl SinkState {
    /// Polls the pending future, and drops it when it completes.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.waiting {
            ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
        }
        Poll::Ready(())
    }
}

impl Stream for Receiver {
    type Item = Result<Message, SocketError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_recv(cx)
    }
}

impl Sink<Message> for Sender {
    type Error = SocketError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        loop {
            if self.is_closed() {
                return Poll::Ready(Err(SocketError::Closed));
            }
            if self.shared.has_room() {
                return Poll::Ready(Ok(()));
            }
            if self.sink.waiting.is_none() {
                let sender = (*self).clone();
                self.sink.waiting = Some(Box::pin(async move { sender.room().await }));
            }
            ready!(self.sink.poll(cx));
        }
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), SocketError> {
        let outgoing = Outgoing::try_from(message)?;
        self.shared.take_room(outgoing.cost());
        self.push(outgoing)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        if !self.sink.is_closing {
            self.sink.is_closing = true;
            let close = Outgoing::Close(Close::new(Close::NORMAL, ""));
            self.sink.waiting = match self.push(close) {
                Ok(()) => {
                    let shared = Arc::clone(&self.shared);
                    Some(Box::pin(async move {
                        shared.end.wait().await;
                    }))
                }
                // The connection was already closed.
                Err(_) => None,
            };
        }
        self.sink.poll(cx).map(Ok)
    }
}

impl Sender {
    /// Waits until there is room for a message or the connection has ended.
    async fn room(&self) {
        let mut room = pin!(self.shared.room.notified());
        // From here on no notification is missed.
        room.as_mut().enable();
        if !self.is_closed() && !self.shared.has_room() {
            room.await;
        }
    }
}

impl Stream for WebSocket {
    type Item = Result<Message, SocketError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(cx)
    }
}

impl Sink<Message> for WebSocket {
    type Error = SocketError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.sender).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), SocketError> {
        Pin::new(&mut self.sender).start_send(message)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.sender).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.sender).poll_close(cx)
    }
}
