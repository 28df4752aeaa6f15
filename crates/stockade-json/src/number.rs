//! Numbers in the same representation as in serde_json.

use std::sync::LazyLock;

use serde_json::Value;

use super::refused::Refused;

/// A number as the visitor receives it.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer of zero or more.
    Whole(u64),
    /// A negative integer.
    Negative(i64),
    /// Any other number.
    Float(f64),
}

/// Returns the number if the whole text is a number.
#[must_use]
pub fn whole_text(text: &str) -> Option<Number> {
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let (number, end) = begins.then(|| read(text, 0).ok())??;
    (end == text.len()).then_some(number)
}

/// Reads the number at `start`, and returns the position after it.
#[inline]
pub(super) fn read(text: &str, start: usize) -> Result<(Number, usize), Refused> {
    let bytes = text.as_bytes();
    let is_negative = bytes.get(start) == Some(&b'-');
    let first = start + usize::from(is_negative);
    let (whole, end) = digits(bytes, first, 0);
    if end == first || end - first > 1 && bytes.get(first) == Some(&b'0') {
        return Err(Refused::Syntax);
    }
    let is_exact = end - first <= MAX_DIGITS;
    match bytes.get(end) {
        Some(b'.') if is_exact => fraction(text, start, end + 1, whole),
        Some(b'.' | b'e' | b'E') => rare(text, start),
        _ if !is_exact => rare(text, start),
        _ => Ok((of_whole(whole, is_negative), end)),
    }
}

/// Returns an integer. Minus zero becomes a float, as in serde_json.
#[inline]
fn of_whole(whole: u64, is_negative: bool) -> Number {
    if !is_negative {
        return Number::Whole(whole);
    }
    match i64::try_from(whole) {
        Ok(whole) if whole > 0 => Number::Negative(-whole),
        _ => Number::Float(-0.0),
    }
}

/// Reads a number with a decimal point. `point` is the position after the
/// point, and `whole` contains the digits before it.
fn fraction(
    text: &str,
    start: usize,
    point: usize,
    whole: u64,
) -> Result<(Number, usize), Refused> {
    let bytes = text.as_bytes();
    let (all, end) = digits(bytes, point, whole);
    // The length includes the point and the sign.
    let is_short = end - start <= MAX_DIGITS;
    let ends = !matches!(bytes.get(end), Some(b'e' | b'E'));
    let power = POWERS.get(end - point).filter(|_| is_short && ends && end > point && all < EXACT);
    let Some(power) = power else {
        return rare(text, start);
    };
    // Both operands are exact, so the quotient is the nearest float.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let float = all as f64 / power;
    let is_negative = bytes.get(start) == Some(&b'-');
    Ok((Number::Float(if is_negative { -float } else { float }), end))
}

/// Reads a long number, or a number with an exponent, with serde_json.
#[cold]
fn rare(text: &str, start: usize) -> Result<(Number, usize), Refused> {
    // An empty number is rejected below.
    let rest = text.get(start..).unwrap_or_default();
    let is_part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let length = rest.bytes().position(|byte| !is_part(&byte)).unwrap_or(rest.len());
    let number = rest.get(..length).unwrap_or_default();
    let value: Value = serde_json::from_str(number).map_err(|_| Refused::Syntax)?;
    let number = if let Some(whole) = value.as_u64() {
        Number::Whole(whole)
    } else if let Some(whole) = value.as_i64() {
        Number::Negative(whole)
    } else {
        Number::Float(value.as_f64().ok_or(Refused::Syntax)?)
    };
    Ok((number, start + length))
}

/// Appends the digits at `start` to the number `before`. A result beyond 64
/// bits wraps around.
#[inline]
fn digits(bytes: &[u8], start: usize, before: u64) -> (u64, usize) {
    let mut number = before;
    let mut at = start;
    while let Some(byte) = bytes.get(at)
        && byte.is_ascii_digit()
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        at += 1;
    }
    (number, at)
}

/// Returns true if serde_json's feature `arbitrary_precision` is enabled, which
/// preserves all digits of a number. Any crate may enable the feature. A
/// conversion to a float would then lose digits.
#[must_use]
pub fn keeps_digits() -> bool {
    static KEEPS: LazyLock<bool> = LazyLock::new(|| {
        // The text does not have an exponent, because serde_json normalizes
        // exponents.
        let read = serde_json::from_str::<serde_json::Number>("1.00");
        read.is_ok_and(|number| number.to_string() == "1.00")
    });
    *KEEPS
}

/// The number of digits that always fit into 63 bits.
const MAX_DIGITS: usize = 18;

/// 2^53. Every integer up to this value is exact as an `f64`.
const EXACT: u64 = 1 << 53;

/// The powers of ten by exponent, each exact as an `f64`. Higher powers are
/// never needed.
const POWERS: [f64; 17] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];
