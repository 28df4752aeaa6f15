//! [`Decompressed`]: a body that is decompressed as it is read.
//!
//! Each step is bounded. The output is produced in pieces of at most 16 KiB,
//! and only when it is polled, so a reader with a limit stops a decompression
//! bomb early. A body can consist of several compressed streams (members).
//! Almost empty members cost work but produce hardly any output, so their
//! number is limited too.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::zstd::params::DParameter;
use compression_codecs::{BrotliDecoder, DecodeV2, GzipDecoder, ZstdDecoder};
use http_body::{Body, Frame};
use stockade_core::{BodyError, BoxError, HttpBody};

use super::Coding;

enum Codec {
    Gzip(Box<GzipDecoder>),
    Brotli(BrotliDecoder),
    Zstd(ZstdDecoder),
}

impl Codec {
    fn new(coding: Coding) -> Self {
        match coding {
            Coding::Gzip => Self::Gzip(Box::default()),
            Coding::Brotli => Self::Brotli(BrotliDecoder::new()),
            Coding::Zstd => {
                let window = DParameter::window_log_max(ZSTD_WINDOW_BITS);
                Self::Zstd(ZstdDecoder::new_with_params(&[window]))
            }
        }
    }

    /// Decodes into `room`. Returns true if the stream has ended.
    fn decode(
        &mut self,
        input: &mut PartialBuffer<&[u8]>,
        room: &mut WriteBuffer<'_>,
    ) -> io::Result<bool> {
        match self {
            // The codec would report empty input as an error.
            Self::Gzip(codec) if input.unwritten().is_empty() => codec.flush(room).map(|_| false),
            Self::Gzip(codec) => codec.decode(input, room),
            Self::Brotli(codec) => DecodeV2::decode(codec, input, room),
            Self::Zstd(codec) => codec.decode(input, room),
        }
    }

    /// Begins the next stream of a format that allows several.
    fn again(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(codec) => codec.reinit(),
            Self::Zstd(codec) => codec.reinit(),
            Self::Brotli(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// A compressed body that is decompressed as it is read.
pub(super) struct Decompressed {
    body: HttpBody,
    codec: Codec,
    /// Input that is not yet decoded.
    input: Bytes,
    room: Vec<u8>,
    state: DecoderState,
    /// True if the output was full, so the codec may hold more.
    was_full: bool,
    members: u64,
    /// The length of the output so far, in bytes.
    made: u64,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum DecoderState {
    /// Before the first byte.
    Fresh,
    /// Within a stream.
    Inside,
    /// After the end of a stream; another may follow.
    Between,
    /// After the end of the body.
    Ended,
}

impl Decompressed {
    pub(super) fn new(body: HttpBody, coding: Coding) -> Self {
        Self {
            body,
            codec: Codec::new(coding),
            input: Bytes::new(),
            room: vec![0; ROOM_BYTES],
            state: DecoderState::Fresh,
            was_full: false,
            members: 0,
            made: 0,
        }
    }

    /// Decodes until the room is full. Returns `None` if more input is needed.
    fn advance(&mut self) -> io::Result<Option<Bytes>> {
        while self.was_full || !self.input.is_empty() {
            self.enter()?;
            let mut input = PartialBuffer::new(&self.input[..]);
            let mut room = WriteBuffer::new_initialized(&mut self.room);
            let has_ended = self.codec.decode(&mut input, &mut room)?;
            let (read, written) = (input.written_len(), room.written_len());
            self.was_full = room.has_no_spare_space() && !has_ended;
            if has_ended {
                self.state = DecoderState::Between;
            } else if read == 0 && written == 0 && !self.input.is_empty() {
                return Err(io::Error::other("the decoder made no progress"));
            }
            self.input.advance(read);
            self.made += written as u64;
            if written > 0 {
                return Ok(Some(Bytes::copy_from_slice(&self.room[..written])));
            }
        }
        Ok(None)
    }

    /// Begins a stream, if none is being read.
    fn enter(&mut self) -> io::Result<()> {
        match self.state {
            DecoderState::Fresh if self.is_large_window() => {
                return Err(io::ErrorKind::InvalidData.into());
            }
            DecoderState::Between if self.members >= FREE_MEMBERS + self.made / MEMBER_BYTES => {
                return Err(io::Error::other("too many members for their content"));
            }
            DecoderState::Between => self.codec.again()?,
            DecoderState::Fresh | DecoderState::Inside | DecoderState::Ended => {}
        }
        if self.state != DecoderState::Inside {
            self.members += 1;
        }
        self.state = DecoderState::Inside;
        Ok(())
    }

    /// Returns true if a brotli stream declares a window of up to 1 GiB. RFC
    /// 7932 does not allow this, but the decoder would accept it.
    fn is_large_window(&self) -> bool {
        matches!(self.codec, Codec::Brotli(_))
            && self.input.first().is_some_and(|byte| byte & 0x7F == 0x11)
    }

    fn fail(&mut self, error: BoxError) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.state = DecoderState::Ended;
        self.body = HttpBody::empty();
        Poll::Ready(Some(Err(error)))
    }
}

impl Body for Decompressed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            if self.state == DecoderState::Ended {
                return Poll::Ready(None);
            }
            match self.advance() {
                Ok(Some(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Ok(None) => {}
                Err(_) => return self.fail(BodyError::Broken.into()),
            }
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                // Trailers are dropped, because they contain no data.
                Poll::Ready(Some(Ok(frame))) => self.input = frame.into_data().unwrap_or_default(),
                Poll::Ready(Some(Err(error))) => return self.fail(error),
                // The body ends within a stream.
                Poll::Ready(None) if self.state == DecoderState::Inside => {
                    return self.fail(BodyError::Broken.into());
                }
                Poll::Ready(None) => self.state = DecoderState::Ended,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.state == DecoderState::Ended
    }
}

const ROOM_BYTES: usize = 16_384;
/// The number of members that are allowed regardless of their size.
const FREE_MEMBERS: u64 = 64;
/// The minimum average output of each further member, in bytes. Random-access
/// formats write 65,280 bytes per block.
const MEMBER_BYTES: u64 = 512;
/// 8 MiB, the largest window that a sender may use.
///
/// Source: RFC 9659, section 3.
const ZSTD_WINDOW_BITS: u32 = 23;

#[cfg(test)]
mod tests {
    use super::super::encoder::compress;
    use super::*;

    /// Decodes the bytes in pieces of this length and returns at most 1 MiB of
    /// output.
    fn decode(coding: Coding, bytes: &[u8], piece: usize) -> Result<Vec<u8>, BodyError> {
        let body = bytes.chunks(piece).fold(Vec::new(), |mut pieces, piece| {
            pieces.push(Bytes::copy_from_slice(piece));
            pieces
        });
        let body = Decompressed::new(HttpBody::new(Pieces(body.into())), coding);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let whole = runtime.block_on(HttpBody::new(body).collect(1_048_576));
        whole.map(Vec::from).map_err(|error| BodyError::of(&error))
    }

    struct Pieces(std::collections::VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    fn sample(length: usize) -> Vec<u8> {
        let numbers = (0_u64..).flat_map(|number| (number * number).to_string().into_bytes());
        numbers.take(length).collect()
    }

    #[test]
    fn decodes_compressed_data_in_pieces_of_any_length() {
        for coding in Coding::ALL {
            for length in [1, 16_383, 16_384, 16_385, 32_768, 100_000] {
                for original in [sample(length), vec![b'a'; length]] {
                    let packed = compress(coding, &original).unwrap();
                    for piece in [1, 7, 1_000, usize::MAX] {
                        let back = decode(coding, &packed, piece);
                        assert_eq!(back.as_ref(), Ok(&original), "{coding:?} {length} {piece}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let zeroes = vec![0; 64 << 20];
        for coding in Coding::ALL {
            let bomb = compress(coding, &zeroes).unwrap();
            assert!(bomb.len() < 100_000, "{coding:?} {}", bomb.len());
            assert_eq!(decode(coding, &bomb, usize::MAX), Err(BodyError::TooLarge), "{coding:?}");
        }
    }

    #[test]
    fn rejects_truncated_and_corrupt_data() {
        for coding in Coding::ALL {
            let packed = compress(coding, &sample(50_000)).unwrap();
            for length in [1, 2, packed.len() / 2, packed.len() - 1] {
                let cut = decode(coding, &packed[..length], 1_000);
                assert_eq!(cut, Err(BodyError::Broken), "{coding:?} {length}");
            }
            let longer = [&packed[..], b"more"].concat();
            assert_eq!(decode(coding, &longer, 1_000), Err(BodyError::Broken), "{coding:?}");
            assert_eq!(decode(coding, b"not packed", 1_000), Err(BodyError::Broken), "{coding:?}");
        }
    }

    #[test]
    fn concatenated_members_are_one_body_if_the_format_allows_it() {
        for coding in [Coding::Gzip, Coding::Zstd] {
            let packed = compress(coding, b"twice ").unwrap();
            let twice = [&packed[..], &packed[..]].concat();
            for piece in [1, usize::MAX] {
                assert_eq!(decode(coding, &twice, piece), Ok(b"twice twice ".to_vec()));
            }
        }
    }

    // One MiB of empty gzip members used to cause 52,000 resets of the decoder.
    #[test]
    fn limits_the_number_of_empty_members() {
        for coding in [Coding::Gzip, Coding::Zstd] {
            let members = |content: &[u8], count: usize| {
                decode(coding, &compress(coding, content).unwrap().repeat(count), usize::MAX)
            };
            assert_eq!(members(b"", 64), Ok(Vec::new()), "{coding:?}");
            assert_eq!(members(b"", 65), Err(BodyError::Broken), "{coding:?}");
            assert_eq!(members(b"a", 65), Err(BodyError::Broken), "{coding:?}");
            let block = sample(512);
            assert_eq!(members(&block, 1_000), Ok(block.repeat(1_000)), "{coding:?}");
        }
    }

    #[test]
    fn no_bytes_are_an_empty_body() {
        for coding in Coding::ALL {
            assert_eq!(decode(coding, b"", 1), Ok(Vec::new()));
            assert_eq!(decode(coding, &compress(coding, b"").unwrap(), 1), Ok(Vec::new()));
        }
    }

    #[test]
    fn windows_are_bounded() {
        // Brotli's large window, of 2^30 bytes.
        assert_eq!(decode(Coding::Brotli, &[0x11, 0x1E, 0x03], 9), Err(BodyError::Broken));
        // A zstd frame with a window of 2^31 bytes.
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00];
        assert_eq!(decode(Coding::Zstd, &frame, 9), Err(BodyError::Broken));
    }
}
