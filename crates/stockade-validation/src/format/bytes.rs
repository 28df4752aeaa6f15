//! Byte sets, and searches over all bytes of a text.

/// The bytes that a grammar allows.
pub(super) struct Set {
    /// The meaning of each byte. A single load replaces a chain of comparisons.
    meaning: [u8; 256],
    /// True if the set contains all bytes that are [`usual`].
    has_usual: bool,
}

const ALLOWED: u8 = 0;
const REFUSED: u8 = 1;
/// The byte begins an escape: two hexadecimal digits follow.
const ESCAPE: u8 = 2;

impl Set {
    /// Returns true if the set does not contain this byte.
    #[inline]
    pub(super) fn refuses(&self, byte: u8) -> bool {
        self.meaning[usize::from(byte)] == REFUSED
    }
}

/// Returns the set of the ASCII letters and digits, plus `others`.
pub(super) const fn letters_digits_and(others: &[u8]) -> Set {
    let mut meaning = [REFUSED; 256];
    let mut at = 0;
    while at < others.len() {
        meaning[others[at] as usize] = ALLOWED;
        at += 1;
    }
    let mut has_usual = true;
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            meaning[byte as usize] = ALLOWED;
        }
        has_usual &= !usual(byte) || meaning[byte as usize] == ALLOWED;
        byte += 1;
    }
    Set { meaning, has_usual }
}

/// Adds the byte that begins an escape.
pub(super) const fn escapes_and(mut set: Set) -> Set {
    set.meaning[b'%' as usize] = ESCAPE;
    set
}

/// Adds all bytes beyond ASCII.
pub(super) const fn beyond_ascii_and(mut set: Set) -> Set {
    let mut byte = 128;
    while byte < set.meaning.len() {
        set.meaning[byte] = ALLOWED;
        byte += 1;
    }
    set
}

/// Returns true for the most common bytes in paths: letters, digits and `-./_`.
///
/// Three comparisons let the compiler vectorize the check.
const fn usual(byte: u8) -> bool {
    let digit_or_mark = byte.wrapping_sub(b'-') <= b'9' - b'-';
    let letter = (byte | 0x20).wrapping_sub(b'a') <= b'z' - b'a';
    digit_or_mark | letter | (byte == b'_')
}

/// Returns true if the text contains only bytes of this set.
#[inline]
pub(super) fn all(text: &[u8], set: &Set) -> bool {
    if set.has_usual {
        let (blocks, rest) = text.as_chunks::<32>();
        let is_usual = |block: &[u8; 32]| block.iter().fold(true, |all, it| all & usual(*it));
        let mut noted = note(ALLOWED, rest, set);
        for block in blocks {
            if !is_usual(block) {
                noted = note(noted, block, set);
            }
        }
        return fits(noted, text);
    }
    fits(note(ALLOWED, text, set), text)
}

/// Looks bytes up, without a branch per byte.
#[inline]
fn note(noted: u8, text: &[u8], set: &Set) -> u8 {
    text.iter().fold(noted, |noted, byte| noted | set.meaning[usize::from(*byte)])
}

#[inline]
fn fits(noted: u8, text: &[u8]) -> bool {
    noted == ALLOWED || noted == ESCAPE && has_whole_escapes(text)
}

#[cold]
pub(super) fn has_whole_escapes(text: &[u8]) -> bool {
    memchr::memchr_iter(b'%', text)
        .all(|at| text.get(at + 1..at + 3).is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit)))
}

/// Splits the text at the first such byte, which neither part contains.
#[inline]
pub(super) fn split_once(text: &str, ascii: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(ascii, text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}
