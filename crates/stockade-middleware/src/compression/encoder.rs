//! [`Compressed`]: a body that is compressed as it is read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use compression_codecs::brotli::params::EncoderParams;
use compression_codecs::core::Level;
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::{BrotliEncoder, EncodeV2, GzipEncoder, ZstdEncoder};
use http_body::{Body, Frame};
use stockade_core::{BoxError, HttpBody};

use super::Coding;

/// An encoder and its output.
pub(super) struct Encoder {
    codec: Box<dyn EncodeV2 + Send>,
    /// The output buffer for each call of the codec.
    room: Vec<u8>,
    /// Output that has not been collected yet.
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(coding: Coding) -> Self {
        let codec: Box<dyn EncodeV2 + Send> = match coding {
            Coding::Zstd => Box::new(ZstdEncoder::new(ZSTD_LEVEL)),
            Coding::Brotli => {
                let params = EncoderParams::default().quality(Level::Precise(BROTLI_QUALITY));
                Box::new(BrotliEncoder::new(params.window_size(BROTLI_WINDOW_BITS)))
            }
            Coding::Gzip => Box::new(GzipEncoder::new(Level::Precise(GZIP_LEVEL).into())),
        };
        Self { codec, room: vec![0; ROOM_BYTES], out: Vec::new() }
    }

    /// Compresses bytes. The encoder may delay the output.
    pub(super) fn encode(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut input = PartialBuffer::new(bytes);
        while !input.unwritten().is_empty() {
            let before = input.written_len();
            let written = self.step(|codec, room| codec.encode(&mut input, room))?.1;
            if input.written_len() == before && written == 0 {
                return Err(io::Error::other("the encoder made no progress"));
            }
        }
        Ok(())
    }

    /// Writes out everything that the encoder holds.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.step(|codec, room| codec.flush(room))?.0 {}
        Ok(())
    }

    /// Writes out everything and ends the stream.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        while !self.step(|codec, room| codec.finish(room))?.0 {}
        Ok(())
    }

    /// Returns the output and clears it.
    pub(super) fn take(&mut self) -> Bytes {
        std::mem::take(&mut self.out).into()
    }

    /// Calls the codec. Returns its result and the number of bytes that it
    /// wrote.
    fn step<T>(
        &mut self,
        call: impl FnOnce(&mut dyn EncodeV2, &mut WriteBuffer<'_>) -> io::Result<T>,
    ) -> io::Result<(T, usize)> {
        let mut room = WriteBuffer::new_initialized(&mut self.room);
        let answer = call(self.codec.as_mut(), &mut room)?;
        self.out.extend_from_slice(room.written());
        Ok((answer, room.written_len()))
    }
}

/// Compresses a complete body.
pub(super) fn compress(coding: Coding, bytes: &[u8]) -> io::Result<Bytes> {
    let mut encoder = Encoder::new(coding);
    encoder.encode(bytes)?;
    encoder.finish()?;
    Ok(encoder.take())
}

/// A body that is compressed as it is sent.
///
/// The encoder is flushed whenever the body pauses, so that no data waits for
/// later data.
pub(super) struct Compressed {
    body: HttpBody,
    /// The rest of a large piece.
    rest: Bytes,
    encoder: Encoder,
    flushes_each: bool,
    /// True if the encoder holds unflushed bytes.
    holds: bool,
    ended: bool,
}

impl Compressed {
    /// Wraps a body. `flushes_each` flushes after each piece, which event
    /// streams need.
    pub(super) fn new(body: HttpBody, coding: Coding, flushes_each: bool) -> Self {
        let encoder = Encoder::new(coding);
        Self { body, rest: Bytes::new(), encoder, flushes_each, holds: false, ended: false }
    }

    /// Compresses the next part of a piece. Large pieces are split, so that one
    /// body does not block its thread.
    fn advance(&mut self) -> io::Result<Bytes> {
        let part = self.rest.split_to(self.rest.len().min(PART_BYTES));
        self.encoder.encode(&part)?;
        self.holds = true;
        match self.flushes_each && self.rest.is_empty() {
            true => self.flush(),
            // A few bytes are not worth a frame.
            false if self.encoder.out.len() < ROOM_BYTES => Ok(Bytes::new()),
            false => Ok(self.encoder.take()),
        }
    }

    fn end(&mut self) -> io::Result<Bytes> {
        self.ended = true;
        self.encoder.finish()?;
        Ok(self.encoder.take())
    }

    fn flush(&mut self) -> io::Result<Bytes> {
        self.holds = false;
        self.encoder.flush()?;
        Ok(self.encoder.take())
    }
}

impl Body for Compressed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            let made = if !self.rest.is_empty() {
                self.advance()
            } else {
                match Pin::new(&mut self.body).poll_frame(cx) {
                    Poll::Ready(Some(Ok(frame))) => {
                        // Trailers are dropped: they may be a checksum of the
                        // uncompressed bytes.
                        self.rest = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    Poll::Ready(Some(Err(error))) => {
                        self.ended = true;
                        return Poll::Ready(Some(Err(error)));
                    }
                    Poll::Ready(None) => self.end(),
                    Poll::Pending if self.holds => self.flush(),
                    Poll::Pending => return Poll::Pending,
                }
            };
            match made {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(error) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(error.into())));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

const ROOM_BYTES: usize = 8_192;
/// The number of bytes to compress before the connection is polled again.
const PART_BYTES: usize = 65_536;
const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: i32 = 6;
const BROTLI_QUALITY: i32 = 4;
/// 512 KiB. The default of 4 MiB would need several times that size for each
/// response.
const BROTLI_WINDOW_BITS: i32 = 19;
