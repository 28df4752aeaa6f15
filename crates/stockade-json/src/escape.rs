//! Escapes: a backslash and the characters after it.
//!
//! Source: RFC 8259, section 7.

/// Returns the character of an escape and the position after it. `at` is the
/// position after the backslash. Returns `None` for an invalid escape or half a
/// surrogate pair.
pub(super) fn unescape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let char = match bytes.get(at)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(bytes, at + 1),
        _ => return None,
    };
    Some((char, at + 1))
}

fn unicode(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = unit(bytes, at)?;
    if !SURROGATES.contains(&unit) {
        return Some((char::from_u32(unit)?, at + 4));
    }
    let second = bytes.get(at + 4..at + 6)? == b"\\u";
    let low = second.then(|| self::unit(bytes, at + 6))??;
    if unit >= LOW || !(LOW..=*SURROGATES.end()).contains(&low) {
        return None;
    }
    let beyond = ((unit - SURROGATES.start()) << 10) + (low - LOW);
    Some((char::from_u32(0x1_0000 + beyond)?, at + 10))
}

/// Reads four hexadecimal digits.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

/// UTF-16 code units that are half of a surrogate pair.
const SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdfff;
/// The first low surrogate.
const LOW: u32 = 0xdc00;
