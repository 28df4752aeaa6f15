//! Questions about all bytes of a text.

/// What each byte means: one load says what a chain of comparisons would.
pub(super) type Set = [u8; 256];

const ALLOWED: u8 = 0;
const REFUSED: u8 = 1;
/// It begins an escape: two hexadecimal digits follow.
const ESCAPE: u8 = 2;

/// The ASCII letters and digits, and these bytes.
pub(super) const fn letters_digits_and(others: &[u8]) -> Set {
    let mut set = [REFUSED; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            set[byte as usize] = ALLOWED;
        }
        byte += 1;
    }
    let mut at = 0;
    while at < others.len() {
        set[others[at] as usize] = ALLOWED;
        at += 1;
    }
    set
}

/// The set and escapes.
pub(super) const fn escapes_and(mut set: Set) -> Set {
    set[b'%' as usize] = ESCAPE;
    set
}

/// The set and all bytes beyond ASCII.
pub(super) const fn beyond_ascii_and(mut set: Set) -> Set {
    let mut byte = 128;
    while byte < set.len() {
        set[byte] = ALLOWED;
        byte += 1;
    }
    set
}

/// Whether the text is made of this set. Blocks are looked up without a branch
/// for each byte.
#[inline]
pub(super) fn all(text: &[u8], set: &Set) -> bool {
    let (blocks, rest) = text.as_chunks::<8>();
    let note = |noted, byte: &u8| noted | set[usize::from(*byte)];
    let mut noted = rest.iter().fold(ALLOWED, note);
    for block in blocks {
        noted = block.iter().fold(noted, note);
        if noted & REFUSED != 0 {
            return false;
        }
    }
    noted == ALLOWED || noted == ESCAPE && has_whole_escapes(text)
}

#[cold]
fn has_whole_escapes(text: &[u8]) -> bool {
    memchr::memchr_iter(b'%', text)
        .all(|at| text.get(at + 1..at + 3).is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit)))
}

/// The text before and after the first such byte.
#[inline]
pub(super) fn split_once(text: &str, ascii: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(ascii, text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}
