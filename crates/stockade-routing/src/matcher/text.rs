//! [`Text`], a segment of a path as numbers, read eight bytes at a time. Hot.

/// The text between two slashes. Texts of up to 16 bytes are equal if all
/// fields are equal; longer texts must be compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Text {
    /// The first eight bytes, then the next eight, padded with zeros.
    pub(super) first: u64,
    pub(super) second: u64,
    /// A hash of all bytes. Its highest bits are the best.
    pub(super) hash: u64,
    /// In bytes.
    pub(super) length: usize,
}

/// The number of bytes in the first fields of a [`Text`].
pub(super) const SHORT: usize = 2 * WORD;

impl Text {
    /// Reads the text from byte `start` to the next slash or the end.
    // Inlined, to keep the fields in registers.
    #[inline(always)]
    pub(super) fn read(path: &[u8], start: usize) -> Self {
        let word = load(path, start);
        let slashes = slashes(word);
        if slashes != 0 {
            let (first, length) = cut(word, slashes);
            return Self { first, second: 0, hash: first.wrapping_mul(ODD[0]), length };
        }
        let mut text =
            Self { first: word, second: 0, hash: word.wrapping_mul(ODD[0]), length: WORD };
        let word = load(path, start + WORD);
        let slashes = self::slashes(word);
        let (second, length) = if slashes == 0 { (word, WORD) } else { cut(word, slashes) };
        text.second = second;
        text.hash = text.hash.wrapping_add(second.wrapping_mul(ODD[1]));
        text.length += length;
        if slashes == 0 {
            text.read_others(path, start);
        }
        text
    }

    /// Reads the part after the first 16 bytes.
    #[cold]
    fn read_others(&mut self, path: &[u8], start: usize) {
        loop {
            let word = load(path, start + self.length);
            let slashes = slashes(word);
            let (word, length) = if slashes == 0 { (word, WORD) } else { cut(word, slashes) };
            self.hash = (self.hash ^ self.hash >> 32 ^ word).wrapping_mul(ODD[0]);
            self.length += length;
            if slashes != 0 {
                return;
            }
        }
    }
}

/// Loads eight bytes from `start` on. If there are fewer, a slash follows them.
#[inline(always)]
fn load(path: &[u8], start: usize) -> u64 {
    let left = &path[start..];
    if let Some(word) = left.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let word = match path.last_chunk() {
        // Shifts out the bytes before `start`, or all bytes if none are left.
        Some(last) => (u64::from_le_bytes(*last) >> (8 * (WORD - left.len()) - 1)) >> 1,
        None => gather(left),
    };
    word | SLASH << (8 * left.len())
}

/// Loads the bytes of a path that is shorter than a word.
fn gather(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Returns a word with the highest bit of each byte that is a slash. Bytes
/// above the first slash may be false positives.
#[inline(always)]
fn slashes(word: u64) -> u64 {
    let differences = word ^ (SLASH * LOWEST);
    differences.wrapping_sub(LOWEST) & !differences & (LOWEST << 7)
}

/// Returns the bytes below the first slash, and their number. There must be a
/// slash.
#[inline(always)]
fn cut(word: u64, slashes: u64) -> (u64, usize) {
    let below = (slashes ^ slashes.wrapping_sub(1)) >> 8;
    (word & below, slashes.trailing_zeros() as usize / 8)
}

const WORD: usize = 8;
const SLASH: u64 = 0x2F;
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Odd numbers with well-distributed bits: 2^64 divided by the golden ratio,
/// and two primes.
pub(super) const ODD: [u64; 3] =
    [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_a_slash_or_with_the_path() {
        for length in 0..40 {
            // Includes bytes that differ from a slash by one bit.
            let text: String =
                ".0/o\u{ae}".chars().filter(|c| *c != '/').cycle().take(length).collect();
            for before in ["/", "/a/", "/abcdefgh/"] {
                for after in ["", "/", "/0", "/abcdefghi", "//////////"] {
                    let path = format!("{before}{text}{after}");
                    let read = Text::read(path.as_bytes(), before.len());
                    assert_eq!(read.length, text.len(), "{path:?}");
                    assert_eq!(read, Text::read(text.as_bytes(), 0), "{path:?}");
                }
            }
        }
    }

    #[test]
    fn zeros_at_the_end_are_part_of_a_text() {
        assert_ne!(Text::read(b"a", 0), Text::read(b"a\0", 0));
    }
}
