//! Frames: reading and writing their headers, and unmasking payloads.
//!
//! Pure functions on bytes. Hot: nothing is allocated here.
//!
//! Source: RFC 6455, section 5.2 (base framing protocol) and 5.3 (masking).

/// The type of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OpCode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl OpCode {
    fn of(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    pub(crate) fn is_control(self) -> bool {
        self as u8 >= Self::Close as u8
    }
}

/// The header of a client's frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Head {
    pub(crate) fin: bool,
    /// True for the first frame of a compressed message.
    pub(crate) compressed: bool,
    pub(crate) opcode: OpCode,
    /// The payload length, in bytes.
    pub(crate) length: u64,
    pub(crate) mask: [u8; 4],
}

/// Validates the first two bytes of a client's frame and returns the length of
/// its header. `allowed` contains the reserved bits that the handshake
/// negotiated.
pub(crate) fn head_length(first: u8, second: u8, allowed: u8) -> Result<usize, &'static str> {
    let reserved = first & 0x70;
    if reserved & !allowed != 0 {
        return Err("a reserved bit is set");
    }
    let opcode = OpCode::of(first & 0x0f).ok_or(UNKNOWN_OPCODE)?;
    if reserved != 0 && !matches!(opcode, OpCode::Text | OpCode::Binary) {
        return Err("only the first frame of a message can set the compression bit");
    }
    if opcode.is_control() {
        if first & 0x80 == 0 {
            return Err("a control frame is fragmented");
        }
        if second & 0x7f > MAX_CONTROL {
            return Err("a control frame is longer than 125 bytes");
        }
    }
    if second & 0x80 == 0 {
        return Err("a frame is not masked");
    }
    Ok(match second & 0x7f {
        126 => 8,
        127 => 14,
        _ => 6,
    })
}

/// Reads a complete header of [`head_length`] bytes.
pub(crate) fn read_head(bytes: &[u8]) -> Result<Head, &'static str> {
    let (&[first, second], rest) = bytes.split_first_chunk().ok_or(BAD_LENGTH)?;
    let opcode = OpCode::of(first & 0x0f).ok_or(UNKNOWN_OPCODE)?;
    let (length, rest) = match second & 0x7f {
        126 => {
            let (bytes, rest) = rest.split_first_chunk().ok_or(BAD_LENGTH)?;
            (u64::from(u16::from_be_bytes(*bytes)), rest)
        }
        127 => {
            let (bytes, rest) = rest.split_first_chunk().ok_or(BAD_LENGTH)?;
            (u64::from_be_bytes(*bytes), rest)
        }
        short => (u64::from(short), rest),
    };
    // The highest bit must be 0. Senders must use the shortest form, but
    // receivers need not check that.
    if length > i64::MAX as u64 {
        return Err(BAD_LENGTH);
    }
    let mask = rest.first_chunk().ok_or(BAD_LENGTH)?;
    let compressed = first & RSV1 != 0;
    Ok(Head { fin: first & 0x80 != 0, compressed, opcode, length, mask: *mask })
}

/// Writes the header of a server's frame: final and unmasked.
pub(crate) fn write_head(out: &mut Vec<u8>, opcode: OpCode, length: usize) {
    let first = 0x80 | opcode as u8;
    if let Ok(short) = u8::try_from(length)
        && short < 126
    {
        out.extend_from_slice(&[first, short]);
    } else if let Ok(medium) = u16::try_from(length) {
        let [high, low] = medium.to_be_bytes();
        out.extend_from_slice(&[first, 126, high, low]);
    } else {
        out.extend_from_slice(&[first, 127]);
        out.extend_from_slice(&(length as u64).to_be_bytes());
    }
}

/// Unmasks `masked` and appends the result to `out`. `offset` is the position
/// of `masked` in the payload.
///
/// Works on words of eight bytes, which is eight times as fast.
pub(crate) fn unmask(out: &mut Vec<u8>, masked: &[u8], mask: [u8; 4], offset: usize) {
    let mut mask = mask;
    mask.rotate_left(offset % 4);
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let begin = out.len();
    out.extend_from_slice(masked);
    let (words, rest) = out[begin..].as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip([a, b, c, d, a, b, c]) {
        *byte ^= mask;
    }
}

/// The reserved bit that marks a compressed message. RFC 7692, section 6.
pub(crate) const RSV1: u8 = 0x40;

const BAD_LENGTH: &str = "the length of a frame is malformed";

const UNKNOWN_OPCODE: &str = "unknown opcode";

/// The largest payload of a control frame, in bytes.
pub(crate) const MAX_CONTROL: u8 = 125;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<(OpCode, u64), &'static str>) {
        let read = || {
            let length = head_length(bytes[0], bytes[1], 0)?;
            assert_eq!(length, bytes.len());
            read_head(bytes)
        };
        assert_eq!(read().map(|head| (head.opcode, head.length)), expected);
    }

    #[test]
    fn reads_frame_headers() {
        check(&[0x81, 0x85, 1, 2, 3, 4], Ok((OpCode::Text, 5)));
        check(&[0x02, 0xfe, 1, 0, 1, 2, 3, 4], Ok((OpCode::Binary, 256)));
        let long = [0x80, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        check(&long, Ok((OpCode::Continuation, 1 << 40)));
        check(&[0x8a, 0xfd, 1, 2, 3, 4], Ok((OpCode::Pong, 125)));
    }

    #[test]
    fn rejects_malformed_frame_headers() {
        check(&[0xc1, 0x85, 1, 2, 3, 4], Err("a reserved bit is set"));
        check(&[0x83, 0x85, 1, 2, 3, 4], Err(UNKNOWN_OPCODE));
        check(&[0x8b, 0x85, 1, 2, 3, 4], Err(UNKNOWN_OPCODE));
        check(&[0x81, 0x05, 1, 2, 3, 4], Err("a frame is not masked"));
        check(&[0x09, 0x85, 1, 2, 3, 4], Err("a control frame is fragmented"));
        check(&[0x89, 0xfe, 0, 126, 1, 2, 3, 4], Err("a control frame is longer than 125 bytes"));
        let negative = [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        check(&negative, Err(BAD_LENGTH));
    }

    #[test]
    fn one_reserved_bit_may_be_allowed_for_the_first_frame() {
        for (first, expected) in [
            (0xc1, Ok(6)),
            (0x42, Ok(6)),
            (0x81, Ok(6)),
            (0xa1, Err("a reserved bit is set")),
            (0xd1, Err("a reserved bit is set")),
            (0xf1, Err("a reserved bit is set")),
            (0xc0, Err("only the first frame of a message can set the compression bit")),
            (0xc8, Err("only the first frame of a message can set the compression bit")),
            (0xc9, Err("only the first frame of a message can set the compression bit")),
            (0xca, Err("only the first frame of a message can set the compression bit")),
        ] {
            assert_eq!(head_length(first, 0x85, RSV1), expected, "{first:x}");
        }
    }

    #[test]
    fn the_mask_continues_at_its_position() {
        let mask = [1, 2, 3, 4];
        let plain: Vec<u8> = (0..100).collect();
        let masked: Vec<u8> =
            plain.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        for cut in 0..masked.len() {
            let mut out = Vec::new();
            unmask(&mut out, &masked[..cut], mask, 0);
            unmask(&mut out, &masked[cut..], mask, cut);
            assert_eq!(out, plain, "cut at {cut}");
        }
    }

    #[test]
    fn writes_lengths_in_the_shortest_form() {
        let written = |length| {
            let mut out = Vec::new();
            write_head(&mut out, OpCode::Text, length);
            out
        };
        assert_eq!(written(125), [0x81, 125]);
        assert_eq!(written(126), [0x81, 126, 0, 126]);
        assert_eq!(written(65_535), [0x81, 126, 255, 255]);
        assert_eq!(written(65_536), [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }
}
