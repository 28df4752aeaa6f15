//! [`SendQueue`]: encodes and writes the messages that wait for a client.
//!
//! Hot: all waiting messages are encoded into one buffer and written with one
//! call. A large payload is not copied.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use stockade_core::upgrade::Io;

use crate::close::Close;
#[cfg(feature = "ws-compression")]
use crate::deflate::Deflater;
#[cfg(feature = "ws-compression")]
use crate::frame::RSV1;
use crate::frame::{OpCode, write_head};
use crate::message::{Outgoing, Payload};
use crate::socket::Shared;

/// The encoded bytes, and the messages not yet encoded.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    buffer: Vec<u8>,
    /// The number of bytes of `buffer` already written.
    written: usize,
    /// The number of bytes of pings, pongs and closes in `buffer`.
    control: usize,
    /// A large payload that follows `buffer`. Nothing is encoded while it is
    /// present.
    large: Option<Payload>,
    /// The number of bytes of `large` already written.
    large_written: usize,
    waiting: VecDeque<Outgoing>,
    /// The close that the handler requested, once all earlier messages are
    /// encoded.
    close: Option<Close>,
    /// Present if compression was negotiated.
    #[cfg(feature = "ws-compression")]
    deflater: Option<Box<Deflater>>,
}

impl SendQueue {
    /// Compresses messages from now on.
    #[cfg(feature = "ws-compression")]
    pub(crate) fn compress(&mut self, deflater: Deflater) {
        self.deflater = Some(Box::new(deflater));
    }

    /// Returns true if nothing more may be encoded until bytes are written.
    pub(crate) fn is_full(&self) -> bool {
        self.large.is_some() || self.buffer.len() >= MAX_ENCODED || self.close.is_some()
    }

    /// Returns true if more client pings may be read, which are answered
    /// immediately.
    pub(crate) fn takes_control(&self) -> bool {
        self.control < MAX_CONTROL && self.close.is_none()
    }

    /// Takes the close that the handler requested, once it is next.
    pub(crate) fn take_close(&mut self) -> Option<Close> {
        self.close.take()
    }

    /// Appends a message.
    pub(crate) fn push(&mut self, outgoing: Outgoing, shared: &Shared) {
        if self.waiting.is_empty() && !self.is_full() {
            self.encode(outgoing, shared);
        } else {
            self.waiting.push_back(outgoing);
        }
    }

    /// Encodes a control frame immediately, before the waiting messages.
    pub(crate) fn push_control(&mut self, opcode: OpCode, payload: &[u8]) {
        if let Some(large) = self.large.take() {
            // The frame cannot interrupt the payload. The copy is acceptable
            // because this is rare.
            self.buffer.extend_from_slice(&large.as_slice()[self.large_written..]);
            self.large_written = 0;
        }
        let before = self.buffer.len();
        write_head(&mut self.buffer, opcode, payload.len());
        self.buffer.extend_from_slice(payload);
        self.control += self.buffer.len() - before;
    }

    /// Drops the messages that are not yet encoded.
    pub(crate) fn clear_waiting(&mut self, shared: &Shared) {
        for outgoing in std::mem::take(&mut self.waiting) {
            shared.release(outgoing.cost());
        }
    }

    fn encode(&mut self, outgoing: Outgoing, shared: &Shared) {
        shared.release(outgoing.cost());
        let (opcode, payload) = match outgoing {
            Outgoing::Text(payload) => (OpCode::Text, payload),
            Outgoing::Binary(payload) => (OpCode::Binary, payload),
            Outgoing::Control(opcode, payload) => return self.push_control(opcode, &payload),
            Outgoing::Close(close) => {
                self.close = Some(close);
                return;
            }
            Outgoing::TooSlow | Outgoing::ResumeReading => return,
        };
        #[cfg(feature = "ws-compression")]
        let (payload, head) = {
            let deflater = self.deflater.as_mut();
            let compressed = deflater.and_then(|deflater| deflater.deflate(payload.as_slice()));
            let head = compressed.is_some().then_some(self.buffer.len());
            (compressed.map_or(payload, Payload::Owned), head)
        };
        let length = payload.as_slice().len();
        write_head(&mut self.buffer, opcode, length);
        #[cfg(feature = "ws-compression")]
        if let Some(first) = head.and_then(|head| self.buffer.get_mut(head)) {
            *first |= RSV1;
        }
        if length < MIN_UNCOPIED {
            self.buffer.extend_from_slice(payload.as_slice());
        } else {
            self.large = Some(payload);
        }
    }

    fn encode_waiting(&mut self, shared: &Shared) {
        while !self.is_full() {
            let Some(outgoing) = self.waiting.pop_front() else {
                self.waiting = VecDeque::new();
                return;
            };
            self.encode(outgoing, shared);
        }
    }

    /// Writes until nothing is left. Returns the number of bytes written by
    /// this call, even if it is pending.
    pub(crate) fn poll_write(
        &mut self,
        io: &mut dyn Io,
        shared: &Shared,
        cx: &mut Context<'_>,
    ) -> (usize, Poll<io::Result<()>>) {
        let mut total = 0;
        let outcome = loop {
            if !self.waiting.is_empty() {
                self.encode_waiting(shared);
            }
            if self.buffer.is_empty() && self.large.is_none() {
                break Poll::Ready(Ok(()));
            }
            match self.poll_write_once(io, cx) {
                Poll::Ready(Ok(count)) => total += count,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        (total, outcome)
    }

    fn poll_write_once(
        &mut self,
        io: &mut dyn Io,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let buffer = &self.buffer[self.written..];
        let large =
            self.large.as_ref().map_or(&[][..], |large| &large.as_slice()[self.large_written..]);
        let io = Pin::new(io);
        let count = if buffer.is_empty() || large.is_empty() {
            let bytes = if buffer.is_empty() { large } else { buffer };
            ready!(io.poll_write(cx, bytes))?
        } else {
            ready!(io.poll_write_vectored(cx, &[IoSlice::new(buffer), IoSlice::new(large)]))?
        };
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        let of_buffer = count.min(buffer.len());
        let done = count - of_buffer == large.len();
        self.written += of_buffer;
        self.large_written += count - of_buffer;
        if self.written == self.buffer.len() {
            self.written = 0;
            self.control = 0;
            if self.buffer.capacity() > MAX_KEPT_CAPACITY {
                self.buffer = Vec::new();
            } else {
                self.buffer.clear();
            }
            if done {
                self.large = None;
                self.large_written = 0;
            }
        }
        Poll::Ready(Ok(count))
    }
}

/// The minimum length of a payload that is not copied, in bytes.
const MIN_UNCOPIED: usize = 16_384;

/// Encoding pauses at this number of encoded bytes: 64 KiB.
const MAX_ENCODED: usize = 65_536;

/// Reading stops at this number of waiting control frame bytes: 4 KiB.
const MAX_CONTROL: usize = 4_096;

/// The largest buffer retained while nothing waits, in bytes.
const MAX_KEPT_CAPACITY: usize = 4_096;
