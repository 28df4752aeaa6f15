//! [`Inflater`] and [`Deflater`]: decompress and compress the messages of a
//! connection.
//!
//! Source: RFC 7692, section 7.2.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::negotiation::Agreed;
use super::options::MIN_BITS;
use crate::close::Violation;

/// Decompresses the messages of a client.
#[derive(Debug)]
pub(crate) struct Inflater {
    /// Present while a message is read, and between messages if the client
    /// keeps its window.
    stream: Option<Box<Decompress>>,
    window_bits: u8,
    keeps_window: bool,
}

impl Inflater {
    pub(crate) fn new(agreed: Agreed) -> Self {
        Self {
            stream: None,
            // A larger window can decompress data that was compressed with a
            // smaller one.
            window_bits: agreed.client_bits.max(MIN_BITS),
            keeps_window: agreed.client_takeover,
        }
    }

    /// Appends the decompressed bytes of a piece of a message to `output`.
    /// `output` never grows beyond `max` plus one byte.
    pub(crate) fn inflate(
        &mut self,
        mut input: &[u8],
        output: &mut Vec<u8>,
        max: usize,
    ) -> Result<(), Violation> {
        let bits = self.window_bits;
        let stream = self
            .stream
            .get_or_insert_with(|| Box::new(Decompress::new_with_window_bits(false, bits)));
        loop {
            if output.len() == output.capacity() {
                let most = max.saturating_add(1);
                let wanted = (output.capacity() * 2).max(input.len() * 2).max(MIN_OUTPUT).min(most);
                output.reserve_exact(wanted.saturating_sub(output.len()).max(1));
            }
            let before = (stream.total_in(), output.len());
            let status = stream.decompress_vec(input, output, FlushDecompress::Sync);
            let status = status.map_err(|_| Violation::Compressed)?;
            let read = usize::try_from(stream.total_in() - before.0).unwrap_or(usize::MAX);
            input = input.get(read..).unwrap_or_default();
            if output.len() > max {
                return Err(Violation::TooLarge);
            }
            if status == Status::StreamEnd {
                // Other blocks may follow a block that is marked as the last
                // one, and may refer to the bytes before it (section 7.2.3.4).
                stream.reset(false);
                let window = output.len().saturating_sub(1 << bits);
                stream.set_dictionary(&output[window..]).map_err(|_| Violation::Compressed)?;
                if input.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let has_room = output.len() < output.capacity();
            let is_stuck = read == 0 && output.len() == before.1;
            if has_room && (input.is_empty() || is_stuck) {
                return if input.is_empty() { Ok(()) } else { Err(Violation::Compressed) };
            }
        }
    }

    /// Decompresses the end of a message, which senders omit (section 7.2.2).
    pub(crate) fn finish(&mut self, output: &mut Vec<u8>, max: usize) -> Result<(), Violation> {
        let outcome = self.inflate(&TAIL, output, max);
        if !self.keeps_window {
            self.stream = None;
        }
        outcome
    }
}

/// Compresses messages for a client.
#[derive(Debug)]
pub(crate) struct Deflater {
    /// Present while a message is compressed, and between messages if the
    /// window is kept.
    stream: Option<Box<Compress>>,
    window_bits: u8,
    keeps_window: bool,
}

impl Deflater {
    pub(crate) fn new(agreed: Agreed) -> Self {
        Self { stream: None, window_bits: agreed.server_bits, keeps_window: agreed.server_takeover }
    }

    /// Returns the compressed message, or `None` if it should be sent
    /// uncompressed.
    pub(crate) fn deflate(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        if payload.len() < MIN_PAYLOAD {
            return None;
        }
        let bits = self.window_bits;
        let mut stream = self.stream.take().unwrap_or_else(|| {
            Box::new(Compress::new_with_window_bits(Compression::default(), false, bits))
        });
        let mut output = Vec::with_capacity(payload.len() / 2 + TAIL.len());
        let mut input = payload;
        loop {
            if output.len() == output.capacity() {
                output.reserve(output.len().max(MIN_OUTPUT));
            }
            let before = stream.total_in();
            let status = stream.compress_vec(input, &mut output, FlushCompress::Sync);
            // The stream is in an unknown state after a failure and is dropped.
            status.ok()?;
            let read = usize::try_from(stream.total_in() - before).unwrap_or(usize::MAX);
            input = input.get(read..).unwrap_or_default();
            if input.is_empty() && output.len() < output.capacity() {
                break;
            }
        }
        if output.ends_with(&TAIL) {
            output.truncate(output.len() - TAIL.len());
        } else {
            return None;
        }
        if self.keeps_window {
            // The message has changed the window, so the client needs it even
            // if it did not become smaller.
            self.stream = Some(stream);
            return Some(output);
        }
        (output.len() < payload.len()).then_some(output)
    }
}

/// The end of a flushed stream, which is omitted from messages (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// The smallest message that is compressed, in bytes.
const MIN_PAYLOAD: usize = 64;
/// The smallest reservation for output, in bytes.
const MIN_OUTPUT: usize = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agreed(bits: u8, takeover: bool) -> Agreed {
        Agreed {
            server_bits: bits,
            client_bits: bits,
            server_takeover: takeover,
            client_takeover: takeover,
        }
    }

    fn inflate_in_pieces(
        inflater: &mut Inflater,
        bytes: &[u8],
        piece: usize,
        max: usize,
    ) -> Result<Vec<u8>, Violation> {
        let mut output = Vec::new();
        for piece in bytes.chunks(piece) {
            inflater.inflate(piece, &mut output, max)?;
        }
        inflater.finish(&mut output, max)?;
        assert!(output.capacity() <= max + 1);
        Ok(output)
    }

    /// The examples of RFC 7692, section 7.2.3.
    #[test]
    fn reads_the_examples_of_the_specification() {
        #[track_caller]
        fn check(bytes: &[u8]) {
            for piece in 1..=bytes.len() {
                let mut inflater = Inflater::new(agreed(15, false));
                let text = inflate_in_pieces(&mut inflater, bytes, piece, 100).unwrap();
                assert_eq!(text, b"Hello");
            }
        }
        // One block; an uncompressed block; a block that is marked as the last;
        // two blocks.
        check(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
        check(&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]);
        check(&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]);
        check(&[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]);
        // A second message that refers to the first.
        let mut inflater = Inflater::new(agreed(15, true));
        for bytes in
            [&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..], &[0xf2, 0x00, 0x11, 0x00, 0x00]]
        {
            let text = inflate_in_pieces(&mut inflater, bytes, 100, 100).unwrap();
            assert_eq!(text, b"Hello");
        }
        // The second message is invalid if the window is not kept.
        let mut inflater = Inflater::new(agreed(15, false));
        let outcome = inflate_in_pieces(&mut inflater, &[0xf2, 0x00, 0x11, 0x00, 0x00], 100, 100);
        assert_eq!(outcome, Err(Violation::Compressed));
        // An empty message.
        let mut inflater = Inflater::new(agreed(15, false));
        assert_eq!(inflate_in_pieces(&mut inflater, &[0], 1, 0), Ok(Vec::new()));
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let zeros = vec![0; 10 << 20];
        let bomb = Deflater::new(agreed(15, false)).deflate(&zeros).unwrap();
        assert!(bomb.len() < 20_000);
        for piece in [1, 100, bomb.len()] {
            let mut inflater = Inflater::new(agreed(15, false));
            let outcome = inflate_in_pieces(&mut inflater, &bomb, piece, 10_000);
            assert_eq!(outcome, Err(Violation::TooLarge));
        }
        let mut inflater = Inflater::new(agreed(15, false));
        assert_eq!(inflate_in_pieces(&mut inflater, &bomb, bomb.len(), 10 << 20), Ok(zeros));
    }

    #[test]
    fn streams_exist_only_as_long_as_they_are_needed() {
        let text = b"a text that repeats itself, a text that repeats itself, and so on and so on";
        for takeover in [false, true] {
            let mut deflater = Deflater::new(agreed(12, takeover));
            let mut inflater = Inflater::new(agreed(12, takeover));
            assert_eq!((deflater.deflate(b"short"), deflater.stream.is_some()), (None, false));
            let first = deflater.deflate(text).unwrap();
            let second = deflater.deflate(text).unwrap();
            assert_eq!(second.len() < first.len(), takeover);
            for bytes in [first, second] {
                assert_eq!(inflate_in_pieces(&mut inflater, &bytes, 7, 100).unwrap(), text);
            }
            assert_eq!(
                (deflater.stream.is_some(), inflater.stream.is_some()),
                (takeover, takeover)
            );
        }
    }

    proptest! {
        #[test]
        fn messages_round_trip_in_pieces(
            messages in prop::collection::vec(prop::collection::vec(0_u8..8, 0..5_000), 1..6),
            bits in 9_u8..=15,
            takeover: bool,
            piece in 1_usize..600,
        ) {
            let mut deflater = Deflater::new(agreed(bits, takeover));
            let mut inflater = Inflater::new(agreed(bits, takeover));
            for message in messages {
                let Some(bytes) = deflater.deflate(&message) else { continue };
                let read = inflate_in_pieces(&mut inflater, &bytes, piece, message.len());
                prop_assert_eq!(read, Ok(message));
            }
        }

        #[test]
        fn no_bytes_break_the_limit(
            bytes in prop::collection::vec(any::<u8>(), 0..400), piece in 1_usize..50,
        ) {
            let mut inflater = Inflater::new(agreed(9, true));
            let _ = inflate_in_pieces(&mut inflater, &bytes, piece, 300);
        }
    }
}
