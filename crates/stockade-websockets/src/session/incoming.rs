//! Moves bytes from the socket to the handler.

use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead as _, ReadBuf};

use super::{Phase, Session};
use crate::close::Violation;
use crate::decoder::Event;
use crate::frame::OpCode;
use crate::message::{Message, cost};
use crate::socket::MAX_UNREAD;

impl Session {
    /// Returns true if there is room for more client messages. Bytes after our
    /// close frame are discarded and need no room.
    ///
    /// Messages that wait for the client do not stop reading: the client may
    /// want to cancel them.
    pub(super) fn may_read(&self) -> bool {
        self.phase > Phase::Open
            || self.shared.unread.load(Ordering::Acquire) < MAX_UNREAD
                && self.send_queue.takes_control()
    }

    /// Returns true if the client can answer a ping in time. The ping reaches
    /// the client after the encoded bytes, and the pong must be read.
    pub(super) fn is_in_time(&self) -> bool {
        self.may_read() && !self.send_queue.is_full()
    }

    /// Reads once; returns true if the connection changed.
    pub(super) fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.phase == Phase::Over || self.client_end.is_some() || !self.may_read() {
            return false;
        }
        if !self.read_ahead.is_empty() {
            let bytes = std::mem::take(&mut self.read_ahead);
            self.receive_bytes(&bytes);
            return true;
        }
        let Some(io) = &mut self.io else { return false };
        // On the stack, because a silent connection should not hold a buffer.
        let mut space = [const { MaybeUninit::uninit() }; READ_SIZE];
        let mut buffer = ReadBuf::uninit(&mut space);
        match Pin::new(io).poll_read(cx, &mut buffer) {
            // The server closes first (RFC 6455, section 7.1.1). All bytes have
            // been read.
            Poll::Pending if self.is_shut_down && self.has_client_closed => self.finish(),
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => self.disconnected(),
            Poll::Ready(Ok(())) => self.receive_bytes(buffer.filled()),
            Poll::Ready(Err(error)) => self.io_failed(&error),
        }
        true
    }

    /// Decodes bytes from the client.
    fn receive_bytes(&mut self, mut bytes: &[u8]) {
        self.timeouts.received_bytes();
        if self.phase > Phase::Open {
            self.discarded += bytes.len();
            if self.discarded > MAX_DISCARDED {
                self.finish();
                return;
            }
        }
        while self.phase < Phase::Lingering && self.client_end.is_none() {
            match self.decoder.next(&mut bytes) {
                Ok(Some(event)) => self.handle_event(event),
                Ok(None) => return,
                Err(violation) => self.client_end = Some(Err(violation)),
            }
        }
    }

    /// Handles an event from the client.
    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.deliver(Message::Text(text)),
            Event::Binary(bytes) => self.deliver(Message::Binary(bytes.into())),
            Event::Ping(payload) if self.phase == Phase::Open => {
                self.send_queue.push_control(OpCode::Pong, &payload);
                self.show(|| Message::Ping(payload.into()));
            }
            Event::Ping(_) => {}
            Event::Pong(payload) => self.show(|| Message::Pong(payload.into())),
            Event::Close(close) => self.client_end = Some(Ok(close)),
        }
    }

    /// Counts a message, and passes it to the handler.
    fn deliver(&mut self, message: Message) {
        if self.phase > Phase::Open {
            return;
        }
        self.timeouts.moved_message();
        if self.rate.as_mut().is_some_and(|rate| !rate.allows()) {
            self.client_end = Some(Err(Violation::TooMany));
            return;
        }
        self.hand_over(message);
    }

    /// Passes a control frame to a handler that requested them.
    pub(super) fn show(&mut self, message: impl FnOnce() -> Message) {
        if self.phase == Phase::Open && self.shared.options.control_messages {
            self.hand_over(message());
        }
    }

    /// Sends a message through the handler's channel.
    fn hand_over(&mut self, message: Message) {
        if let Some(messages) = &self.messages {
            let cost = cost(message.len());
            self.shared.unread.fetch_add(cost, Ordering::AcqRel);
            if messages.send(Ok(message)).is_err() {
                // The handler dropped its receiver, so messages are read and
                // discarded.
                self.shared.unread.fetch_sub(cost, Ordering::AcqRel);
                self.messages = None;
            }
        }
    }
}

/// The maximum number of bytes per read.
const READ_SIZE: usize = 16_384;

/// The number of bytes to discard after our close frame: 8 MiB. The connection
/// ends if more arrive.
const MAX_DISCARDED: usize = 8 << 20;
