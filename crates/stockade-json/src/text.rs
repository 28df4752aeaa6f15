//! Strings, borrowed from the text or unescaped.

use super::escape::unescape;
use super::refused::Refused;

/// Reads a string into `scratch`, and returns the position after its closing
/// quotation mark. `start` is the position after the opening mark, and `escape`
/// is the position of the first escape.
#[cold]
pub(super) fn read_escaped(
    text: &str,
    start: usize,
    mut escape: usize,
    scratch: &mut String,
) -> Result<usize, Refused> {
    scratch.clear();
    let mut from = start;
    loop {
        scratch.push_str(text.get(from..escape).ok_or(Refused::Syntax)?);
        match text.as_bytes().get(escape) {
            Some(b'"') => return Ok(escape + 1),
            Some(b'\\') => {}
            _ => return Err(Refused::Syntax),
        }
        let (char, behind) = unescape(text.as_bytes(), escape + 1).ok_or(Refused::Syntax)?;
        scratch.push(char);
        from = behind;
        escape = plain_end(text.as_bytes(), from);
    }
}

/// Returns the position of the first special byte from `start`: a quotation
/// mark, a backslash or a control character. Returns the end if there is none.
pub(super) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    // Most strings are short.
    while at - start < SHORT {
        match in_word(bytes, at) {
            Some(8) => at += 8,
            Some(more) => return at + more,
            None => return at + in_end(bytes, at),
        }
    }
    // This is empty if the text ends before this position.
    at + long_length(bytes.get(at..).unwrap_or_default())
}

/// Returns the number of bytes before the first special byte, for a long text.
/// It searches for the marks first, because control characters before them are
/// rare.
///
/// It is a separate function, so a short string needs no stack frame.
#[inline(never)]
fn long_length(bytes: &[u8]) -> usize {
    let length = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    // This never fails: `length` is within the slice.
    let text = bytes.get(..length).unwrap_or_default();
    if text.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20 {
        return in_end(text, 0);
    }
    length
}

/// Returns the number of plain bytes among the next eight. Returns `None` if
/// fewer than eight remain.
#[inline]
fn in_word(bytes: &[u8], from: usize) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes.get(from..)?.first_chunk::<8>()?);
    // Marks the highest bit of each special byte. A byte after a special byte
    // may also be marked by mistake, but only the first mark counts.
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word;
    let flipped = |byte: u8| word ^ (EACH * u64::from(byte));
    // Flipping the second bit turns `"` into the byte directly after the
    // control characters, so one comparison finds both.
    let marks = (below(flipped(2), 0x21) | below(flipped(b'\\'), 1)) & (EACH << 7);
    Some(marks.trailing_zeros() as usize / 8)
}

/// Returns the number of plain bytes from `from`, one byte at a time.
#[cold]
fn in_end(bytes: &[u8], from: usize) -> usize {
    // This is empty if the text ends before this position.
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().position(|byte| has_meaning(*byte)).unwrap_or(rest.len())
}

#[inline]
fn has_meaning(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The value 1 in each byte.
const EACH: u64 = u64::MAX / 0xff;

/// The number of bytes that are searched in words before `long_length` is
/// called. Must be a multiple of eight.
const SHORT: usize = 40;
