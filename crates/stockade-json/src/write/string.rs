//! Strings and their escapes (RFC 8259, section 7).

use crate::write::buffer::{Buffer, copy_ends, copy_last};

/// Writes a string in quotation marks.
pub(crate) fn write(out: &mut Buffer, text: &str) {
    let bytes = text.as_bytes();
    let size = bytes.len() + 2;
    if let Some([before, content @ .., after]) = out.place(size)
        && copy_short(content, bytes)
    {
        *before = b'"';
        *after = b'"';
        return out.wrote(size);
    }
    write_long(out, text);
}

/// Writes a long string. It is a separate function so the caller need not save
/// registers, which saves a fifth of the instructions for a short string.
#[inline(never)]
fn write_long(out: &mut Buffer, text: &str) {
    let bytes = text.as_bytes();
    let size = bytes.len() + 2;
    if let Some([before, content @ .., after]) = out.place(size)
        && copy_blocks(content, bytes)
    {
        *before = b'"';
        *after = b'"';
        return out.wrote(size);
    }
    write_slowly(out, text);
}

#[cold]
fn write_slowly(out: &mut Buffer, text: &str) {
    if out.grow(text.len() + 2) {
        return write(out, text);
    }
    out.push(b'"');
    write_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Writes the part of a field before its value: a bracket or a comma, the name
/// and a colon. A name is rarely longer than 32 bytes.
pub(crate) fn write_name(out: &mut Buffer, lead: u8, name: &str) {
    let bytes = name.as_bytes();
    let size = bytes.len() + 4;
    if let Some([first, before, content @ .., after, colon]) = out.place(size)
        && copy_short(content, bytes)
    {
        (*first, *before) = (lead, b'"');
        (*after, *colon) = (b'"', b':');
        return out.wrote(size);
    }
    write_name_slowly(out, lead, name);
}

#[cold]
fn write_name_slowly(out: &mut Buffer, lead: u8, name: &str) {
    if out.grow(name.len() + 4) {
        return write_name(out, lead, name);
    }
    out.array([lead, b'"']);
    write_escaped(out, name.as_bytes());
    out.array(*b"\":");
}

/// Writes a string without quotation marks.
pub(crate) fn write_content(out: &mut Buffer, text: &str) {
    let bytes = text.as_bytes();
    if out
        .place(bytes.len())
        .is_some_and(|place| copy_short(place, bytes) || copy_blocks(place, bytes))
    {
        out.wrote(bytes.len());
    } else {
        out.grow(bytes.len());
        write_escaped(out, bytes);
    }
}

/// Copies a string to a slice with the same length. Returns false if a byte
/// needs an escape; the slice then contains garbage.
///
/// If the length is not a multiple of the block size, the first and the last
/// block overlap.
#[inline(always)]
fn copy_short(to: &mut [u8], text: &[u8]) -> bool {
    match text.len() {
        2..=4 => {
            copy_ends::<2>(to, text);
            let [first, last] = ends(text).map(u16::from_le_bytes).map(u64::from);
            marks(first | last << 16 | NEUTRAL << 32) == 0
        }
        5..=8 => {
            copy_ends::<4>(to, text);
            let [first, last] = ends(text).map(u32::from_le_bytes).map(u64::from);
            marks(first | last << 32) == 0
        }
        9..=16 => {
            copy_ends::<8>(to, text);
            let [first, last] = ends(text).map(u64::from_le_bytes);
            marks(first) | marks(last) == 0
        }
        17..=32 => {
            copy_ends::<16>(to, text);
            is_plain(&ends(text))
        }
        33.. => false,
        _ => to.iter_mut().zip(text).all(|(to, byte)| {
            *to = *byte;
            !needs_escape(*byte)
        }),
    }
}

fn copy_blocks(to: &mut [u8], text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<32>() else { return false };
    let (blocks, _) = text.as_chunks::<32>();
    let (places, _) = to.as_chunks_mut::<32>();
    for (place, block) in places.iter_mut().zip(blocks) {
        if !is_plain(block.as_chunks().0) {
            return false;
        }
        *place = *block;
    }
    copy_last::<32>(to, text);
    is_plain(last.as_chunks().0)
}

/// Returns the first and the last `SIZE` bytes of a string that is at least
/// `SIZE` bytes long.
#[inline]
fn ends<const SIZE: usize>(text: &[u8]) -> [[u8; SIZE]; 2] {
    [text.first_chunk(), text.last_chunk()].map(|it| it.copied().unwrap_or([0; SIZE]))
}

/// Returns true if no byte needs an escape.
///
/// The check does not branch for each byte, and subtracts instead of comparing.
/// The compiler can then handle 16 bytes with one instruction.
#[inline]
fn is_plain(blocks: &[[u8; 16]]) -> bool {
    let marked = blocks.iter().fold([0; 16], |mut marked, block| {
        for (mark, byte) in marked.iter_mut().zip(block) {
            // Flipping one bit swaps the space and the quotation mark. The
            // control characters and the quotation mark are then the bytes 0 to
            // 32.
            let low = (b' ' + 1).saturating_sub(byte ^ (b'"' ^ b' '));
            *mark |= low | 1_u8.saturating_sub(byte ^ b'\\');
        }
        marked
    });
    u128::from_ne_bytes(marked) == 0
}

#[inline]
const fn needs_escape(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Sets the highest bit of each byte that needs an escape. The lowest mark is
/// correct; a borrow may set wrong marks above it.
#[inline]
fn marks(word: u64) -> u64 {
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

/// 1 in each byte.
const ONES: u64 = u64::MAX / 255;
/// Four bytes that do not need an escape.
const NEUTRAL: u64 = 0xffff_ffff;

/// Writes a string with bytes that need an escape.
#[cold]
fn write_escaped(out: &mut Buffer, text: &[u8]) {
    for piece in text.chunks(PIECE) {
        out.grow(ESCAPED);
        let written = out.place(ESCAPED).map_or(0, |place| escape(place, piece));
        out.wrote(written);
    }
}

const PIECE: usize = 64;
/// The longest output for a piece, plus the bytes written past its end.
const ESCAPED: usize = 6 * PIECE + 8;

/// Escapes a string, and returns the number of bytes written.
///
/// The count is a local variable. A count in the buffer made strings full of
/// escapes take 50 % longer.
fn escape(place: &mut [u8], mut text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(block) = text.first_chunk::<8>() {
        put(place, at, *block);
        let marks = marks(u64::from_le_bytes(*block));
        let plain = marks.trailing_zeros() as usize / 8;
        at += plain;
        let mut taken = plain;
        if let Some(byte) = block.get(plain) {
            at += put_byte(place, at, *byte);
            taken += 1;
        }
        // `taken` is at most the block length.
        text = text.get(taken..).unwrap_or_default();
    }
    for byte in text {
        at += put_byte(place, at, *byte);
    }
    at
}

#[inline]
fn put_byte(place: &mut [u8], at: usize, byte: u8) -> usize {
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ if byte < b' ' => {
            let [high, low] = [byte >> 4, byte & 0xf].map(|it| HEX[usize::from(it)]);
            return put(place, at, [b'\\', b'u', b'0', b'0', high, low]);
        }
        _ => return put(place, at, [byte]),
    };
    put(place, at, [b'\\', letter])
}

#[inline]
fn put<const SIZE: usize>(place: &mut [u8], at: usize, bytes: [u8; SIZE]) -> usize {
    if let Some(place) = place.get_mut(at..).and_then(|it| it.first_chunk_mut()) {
        *place = bytes;
    }
    SIZE
}

const HEX: [u8; 16] = *b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let mut out = Buffer::new(Vec::new());
        write(&mut out, text);
        write_name(&mut out, b',', text);
        out.push(b'|');
        write_content(&mut out, text);
        let quoted = serde_json::to_string(text).unwrap();
        let content = &quoted[1..quoted.len() - 1];
        let expected = format!("{quoted},{quoted}:|{content}");
        assert_eq!(str::from_utf8(out.written()).unwrap(), expected, "{text:?}");
    }

    /// Checks every offset in strings with all lengths around the block sizes.
    #[test]
    fn finds_escapes_at_every_position() {
        let characters = ["\"", "\\", "\0", "\n", "\x1f", "\x7f", "é", "\u{2028}", "𝄞", "\u{ff}"];
        for length in (0..=70).chain([95, 96, 97, 127, 128, 129]) {
            let plain = "#".repeat(length);
            check(&plain);
            for character in characters {
                for at in 0..=length {
                    check(&format!("{}{character}{}", &plain[..at], &plain[at..]));
                }
            }
        }
    }

    #[test]
    fn one_and_two_byte_characters_are_as_in_serde_json() {
        for character in '\0'..'\u{800}' {
            for count in [1, 2, 3, 5, 9, 17, 33, 64] {
                check(&character.to_string().repeat(count));
                check(&format!("{}{character}", "a".repeat(count)));
            }
        }
    }

    /// Checks adjacent bytes, for which a borrow would set a wrong mark.
    #[test]
    fn neighbors_of_escapes_are_unchanged() {
        let bytes = ["\0", "\x1f", " ", "!", "\"", "#", "[", "\\", "]", "~", "\x7f", "a"];
        for one in bytes {
            for other in bytes {
                for third in bytes {
                    check(&format!("{one}{other}{third}"));
                    check(&format!("aaaa{one}{other}{third}aaaaaaa"));
                }
            }
        }
    }

    /// Checks that a string that does not fit is written after the buffer
    /// grows.
    #[test]
    fn the_buffer_grows_between_any_two_bytes() {
        for filled in 900..1_100 {
            for text in
                ["", "a", "a\nb", "0123456789", "\u{2028}0123456789 \" 0123456789 \" 0123456789"]
            {
                let mut out = Buffer::new(Vec::new());
                out.slice(&vec![b'.'; filled]);
                write(&mut out, text);
                write_name(&mut out, b'{', text);
                write_content(&mut out, text);
                let quoted = serde_json::to_string(text).unwrap();
                let content = &quoted[1..quoted.len() - 1];
                let expected = format!("{quoted}{{{quoted}:{content}");
                assert_eq!(&out.written()[filled..], expected.as_bytes());
            }
        }
    }
}
