//! [`Decoder`]: decodes a client's bytes into messages, regardless of how they
//! are split into reads.
//!
//! Hot: each message costs one allocation, for its payload. Each piece is
//! unmasked and checked on arrival. An announced length reserves nothing:
//! memory grows only with the bytes that have arrived.
//!
//! Source: RFC 6455, sections 5 (data framing) and 8 (error handling).

use crate::close::{Close, Violation};
#[cfg(feature = "ws-compression")]
use crate::deflate::Inflater;
#[cfg(feature = "ws-compression")]
use crate::frame::RSV1;
use crate::frame::{Head, OpCode, head_length, read_head, unmask};
use crate::utf8::Utf8Checker;

/// A message or control frame from a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Close),
}

/// The state between two reads.
#[derive(Debug)]
pub(crate) struct Decoder {
    max_payload: u64,
    /// True if binary messages are returned; otherwise they are read and
    /// discarded.
    binary: bool,
    /// The bytes of an incomplete header.
    head: [u8; 14],
    head_length: usize,
    frame: Option<PartialFrame>,
    message: Option<PartialMessage>,
    /// The payload of a control frame. Control frames may arrive between the
    /// fragments of a message.
    control: Vec<u8>,
    /// Present if compression was negotiated.
    #[cfg(feature = "ws-compression")]
    inflater: Option<Box<Inflater>>,
}

/// A frame with an incomplete payload.
#[derive(Clone, Copy, Debug)]
struct PartialFrame {
    head: Head,
    /// The number of payload bytes received so far.
    come: u64,
}

/// An incomplete message.
#[derive(Debug)]
struct PartialMessage {
    text: bool,
    compressed: bool,
    payload: Vec<u8>,
    /// The total length of the frames so far, including those of a discarded
    /// binary message.
    length: u64,
    /// Checks a text that arrives in pieces. A text in one piece is checked
    /// when the `String` is created.
    utf8: Utf8Checker,
}

impl Decoder {
    pub(crate) fn new(max_payload: u64, binary: bool) -> Self {
        Self {
            max_payload,
            binary,
            head: [0; 14],
            head_length: 0,
            frame: None,
            message: None,
            control: Vec::new(),
            #[cfg(feature = "ws-compression")]
            inflater: None,
        }
    }

    /// Accepts compressed messages.
    #[cfg(feature = "ws-compression")]
    pub(crate) fn accept_compressed(&mut self, inflater: Inflater) {
        self.inflater = Some(Box::new(inflater));
    }

    /// Returns the reserved bits that a frame may have.
    fn reserved_bits(&self) -> u8 {
        #[cfg(feature = "ws-compression")]
        if self.inflater.is_some() {
            return RSV1;
        }
        0
    }

    /// Decodes the next event from `input` and advances past its bytes. Returns
    /// `None` if more bytes are needed.
    ///
    /// # Errors
    /// The rule that the client broke. Do not call `next` again after an error.
    pub(crate) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Violation> {
        loop {
            if self.frame.is_none() {
                let Some(head) = self.read_head(input)? else { return Ok(None) };
                self.begin(head)?;
            }
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let missing = frame.head.length - frame.come;
            // A length above `usize` also exceeds the length of the input.
            let count = usize::try_from(missing).unwrap_or(usize::MAX).min(input.len());
            let (piece, rest) = input.split_at(count);
            *input = rest;
            let (head, offset) = (frame.head, frame.come);
            frame.come += count as u64;
            let complete = frame.come == head.length;
            if head.opcode.is_control() {
                // The header check limits the payload to 125 bytes.
                unmask(&mut self.control, piece, head.mask, (offset % 4) as usize);
            } else {
                self.take(head, offset, piece, complete)?;
            }
            if !complete {
                return Ok(None);
            }
            self.frame = None;
            if let Some(event) = self.end(head)? {
                return Ok(Some(event));
            }
        }
    }

    fn read_head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, Violation> {
        let reserved = self.reserved_bits();
        // The usual case: the input contains the whole header.
        if self.head_length == 0
            && let [first, second, ..] = **input
        {
            let length = head_length(first, second, reserved).map_err(Violation::Protocol)?;
            if let Some((head, rest)) = input.split_at_checked(length) {
                *input = rest;
                return read_head(head).map(Some).map_err(Violation::Protocol);
            }
        }
        loop {
            let wanted = match self.head[..self.head_length] {
                [first, second, ..] => {
                    head_length(first, second, reserved).map_err(Violation::Protocol)?
                }
                _ => 2,
            };
            if self.head_length >= 2 && self.head_length == wanted {
                let head = read_head(&self.head[..wanted]).map_err(Violation::Protocol)?;
                self.head_length = 0;
                return Ok(Some(head));
            }
            let count = (wanted - self.head_length).min(input.len());
            if count == 0 {
                return Ok(None);
            }
            let (piece, rest) = input.split_at(count);
            self.head[self.head_length..][..count].copy_from_slice(piece);
            self.head_length += count;
            *input = rest;
        }
    }

    /// Checks that a frame is allowed now and that the message stays within its
    /// limit.
    fn begin(&mut self, head: Head) -> Result<(), Violation> {
        self.frame = Some(PartialFrame { head, come: 0 });
        if head.opcode.is_control() {
            return Ok(());
        }
        match (&self.message, head.opcode) {
            (None, OpCode::Continuation) => {
                return Err(Violation::Protocol("a continuation frame without a message"));
            }
            (Some(_), OpCode::Text | OpCode::Binary) => {
                return Err(Violation::Protocol("a message begins inside another one"));
            }
            _ => {}
        }
        let message = self.message.get_or_insert_with(|| PartialMessage {
            text: head.opcode == OpCode::Text,
            compressed: head.compressed,
            payload: Vec::new(),
            length: 0,
            utf8: Utf8Checker::default(),
        });
        // The limit is checked with the header, so an oversized payload is
        // never read.
        let max =
            if message.compressed { max_compressed(self.max_payload) } else { self.max_payload };
        if head.length > max - message.length {
            return Err(Violation::TooLarge);
        }
        message.length += head.length;
        Ok(())
    }

    /// Appends a piece to the message.
    fn take(
        &mut self,
        head: Head,
        offset: u64,
        piece: &[u8],
        complete: bool,
    ) -> Result<(), Violation> {
        let Some(message) = &mut self.message else { return Ok(()) };
        #[cfg(feature = "ws-compression")]
        if message.compressed {
            return self.inflate(head, offset, piece, complete);
        }
        if !message.text && !self.binary {
            return Ok(());
        }
        let begin = message.payload.len();
        reserve(&mut message.payload, piece.len(), message.length);
        unmask(&mut message.payload, piece, head.mask, (offset % 4) as usize);
        // A text in one piece is checked when it becomes a `String`.
        let in_one_piece = begin == 0 && complete && head.fin;
        if message.text && !in_one_piece {
            message.utf8.check(&message.payload[begin..]).map_err(|_| Violation::Text)?;
        }
        Ok(())
    }

    /// Decompresses a piece of a message.
    ///
    /// Discarded binary messages are decompressed too, because later messages
    /// may refer to them.
    #[cfg(feature = "ws-compression")]
    fn inflate(
        &mut self,
        head: Head,
        offset: u64,
        piece: &[u8],
        complete: bool,
    ) -> Result<(), Violation> {
        let (Some(message), Some(inflater)) = (&mut self.message, &mut self.inflater) else {
            return Ok(());
        };
        let max = usize::try_from(self.max_payload).unwrap_or(usize::MAX);
        let begin = message.payload.len();
        let mut plain = Vec::with_capacity(piece.len());
        unmask(&mut plain, piece, head.mask, (offset % 4) as usize);
        inflater.inflate(&plain, &mut message.payload, max)?;
        if complete && head.fin {
            inflater.finish(&mut message.payload, max)?;
        }
        if message.text {
            message.utf8.check(&message.payload[begin..]).map_err(|_| Violation::Text)?;
        }
        Ok(())
    }

    /// Returns the event that a complete frame produces, if any.
    fn end(&mut self, head: Head) -> Result<Option<Event>, Violation> {
        if head.opcode.is_control() {
            let payload = std::mem::take(&mut self.control);
            return Ok(Some(match head.opcode {
                OpCode::Ping => Event::Ping(payload),
                OpCode::Close => Event::Close(Close::read(&payload)?),
                _ => Event::Pong(payload),
            }));
        }
        let Some(message) = self.message.take_if(|_| head.fin) else { return Ok(None) };
        if message.text {
            message.utf8.finish().map_err(|_| Violation::Text)?;
            return String::from_utf8(message.payload)
                .map(|text| Some(Event::Text(text)))
                .map_err(|_| Violation::Text);
        }
        Ok(self.binary.then_some(Event::Binary(message.payload)))
    }
}

/// Returns the largest compressed size of a message with at most this many
/// bytes. Compressed data can be slightly longer than the message.
fn max_compressed(max_payload: u64) -> u64 {
    max_payload.saturating_add(max_payload / 8).saturating_add(1_024)
}

/// Reserves room for the next piece: the exact size for the first one, later by
/// doubling, and never more than the headers have announced.
fn reserve(payload: &mut Vec<u8>, piece: usize, announced: u64) {
    let needed = payload.len() + piece;
    if needed > payload.capacity() {
        // A length above `usize` sets no limit.
        let announced = usize::try_from(announced).unwrap_or(usize::MAX);
        let wanted = (payload.capacity() * 2).min(announced).max(needed);
        payload.reserve_exact(wanted - payload.len());
    }
}

#[cfg(test)]
mod tests;
