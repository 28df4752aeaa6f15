//! JSON numbers, compared exactly.
//!
//! An `i64`, a `u64` and an `f64` are compared by value, without rounding to
//! another type: 9007199254740993 is greater than 9007199254740992.0.

mod multiple;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde_json::Number;

pub(crate) use self::multiple::is_multiple;

/// A number in normalized form: equal numbers have the same form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Num {
    /// A whole number with a magnitude below 2^126.
    Whole(i128),
    /// Any other number: a fraction, or very large. Never NaN.
    Float(f64),
}

impl Num {
    pub(crate) fn of(number: &Number) -> Self {
        if let Some(whole) = number.as_i64() {
            return Self::Whole(whole.into());
        }
        if let Some(whole) = number.as_u64() {
            return Self::Whole(whole.into());
        }
        // Only a float remains here if serde_json does not use
        // `arbitrary_precision`. If it does, an integer may have more digits
        // than a float, and a number beyond the range of `f64` counts as
        // infinite.
        if let Some(whole) = number.as_i128().filter(|whole| whole.unsigned_abs() < 1 << 126) {
            return Self::Whole(whole);
        }
        Self::of_float(number.as_f64().unwrap_or(f64::INFINITY))
    }

    pub(crate) fn of_float(float: f64) -> Self {
        // The common case, with one instruction in each direction.
        #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
        let near = float as i64;
        if near.unsigned_abs() < EXACT_MAX {
            #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
            let is_whole = near as f64 == float;
            return if is_whole { Self::Whole(near.into()) } else { Self::Float(float) };
        }
        if float.fract() == 0.0 && float.abs() < WHOLE_MAX {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^126")]
            return Self::Whole(float as i128);
        }
        Self::Float(float)
    }

    pub(crate) fn is_whole(self) -> bool {
        match self {
            Self::Whole(_) => true,
            // Above 2^53 every finite float is whole.
            Self::Float(float) => float.is_finite() && float.fract() == 0.0,
        }
    }

    /// Returns true if the number is above 0.
    pub(crate) fn is_positive(self) -> bool {
        self.compare(Self::Whole(0)).is_gt()
    }

    /// Returns the number as a 64-bit integer, if possible.
    pub(crate) fn to_whole(self) -> Option<Number> {
        let Self::Whole(whole) = self else {
            return None;
        };
        let signed = i64::try_from(whole).map(Number::from);
        signed.or_else(|_| u64::try_from(whole).map(Number::from)).ok()
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => left.cmp(&right),
            (Self::Float(left), Self::Float(right)) => left.total_cmp(&right),
            (Self::Whole(left), Self::Float(right)) => whole_to_float(left, right),
            (Self::Float(left), Self::Whole(right)) => whole_to_float(right, left).reverse(),
        }
    }

    pub(crate) fn hash(self, state: &mut impl Hasher) {
        match self {
            Self::Whole(whole) => whole.hash(state),
            Self::Float(float) => float.to_bits().hash(state),
        }
    }
}

/// Compares with a float that is a fraction or outside the range of whole
/// numbers.
fn whole_to_float(whole: i128, float: f64) -> Ordering {
    if let Ok(small) = i32::try_from(whole) {
        return f64::from(small).total_cmp(&float);
    }
    if float.abs() >= WHOLE_MAX {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^126")]
    let floor = float.floor() as i128;
    // `float` is a fraction, so it is above its floor.
    if whole <= floor { Ordering::Less } else { Ordering::Greater }
}

/// 2^53: every whole number below it is an `f64`.
const EXACT_MAX: u64 = 1 << 53;

/// 2^126.
const WHOLE_MAX: f64 = 85_070_591_730_234_615_865_843_651_857_942_052_864.0;

/// Parses trimmed decimal text: sign, digits, fraction, exponent. Hexadecimal
/// numbers and names are not accepted. Returns `None` for any other text, and
/// beyond the range of `f64`.
///
/// Whole text within 64 bits stays exact.
pub(crate) fn parse(text: &str) -> Option<Number> {
    let text = text.trim();
    if !is_decimal(text) {
        return None;
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = unsigned.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = unsigned.parse::<u64>() {
        return Some(whole.into());
    }
    Number::from_f64(unsigned.parse().ok()?)
}

/// Returns a float as a 64-bit integer, if possible.
pub(crate) fn whole_float(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    if may_be_exact(float) { Num::of_float(float).to_whole() } else { None }
}

/// Returns true if a float is not -2^63. Digits below -2^63 are also rounded to
/// that float, while the digits of -2^63 itself are read as an integer.
#[inline]
pub(crate) fn may_be_exact(float: f64) -> bool {
    float > LEAST
}

/// -2^63.
const LEAST: f64 = -9_223_372_036_854_775_808.0;

/// Returns true for a decimal number that `coerce_types` accepts: a sign,
/// digits, a fraction, an exponent, of any size. The caller trims white space.
/// `.5` is a number, but `5.` is not.
// Spec: Validation schemas › `coerceTypes`.
#[must_use]
pub(crate) fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits = exponent
        .is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || is_digits(whole)) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    exponent_fits && mantissa_fits
}

/// Returns true for a number in JSON syntax without an exponent.
///
/// Source: RFC 8259, section 6.
#[must_use]
pub(crate) fn is_strict(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    is_digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number as it appears in messages: whole numbers without a
/// fraction.
pub(crate) fn shown(number: &Number) -> Shown<'_> {
    Shown(number)
}

/// See [`shown`].
pub(crate) struct Shown<'n>(&'n Number);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Num::of(self.0) {
            Num::Whole(whole) => match i64::try_from(whole) {
                Ok(whole) => whole.fmt(f),
                Err(_) => whole.fmt(f),
            },
            Num::Float(_) => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(left: &Value, right: &Value, expected: Ordering) {
        let num = |value: &Value| Num::of(value.as_number().unwrap());
        assert_eq!(num(left).compare(num(right)), expected, "{left} to {right}");
        assert_eq!(num(right).compare(num(left)), expected.reverse(), "{right} to {left}");
    }

    #[test]
    fn compares_exactly() {
        check(&json!(1), &json!(1.0), Ordering::Equal);
        check(&json!(-0.0), &json!(0), Ordering::Equal);
        check(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992.0),
            Ordering::Greater,
        );
        check(&json!(u64::MAX), &json!(18_446_744_073_709_551_616.0), Ordering::Less);
        check(&json!(i64::MIN), &json!(-9_223_372_036_854_775_808.0), Ordering::Equal);
        check(&json!(-1), &json!(u64::MAX), Ordering::Less);
        check(&json!(1), &json!(1.5), Ordering::Less);
        check(&json!(2), &json!(1.5), Ordering::Greater);
        check(&json!(-1), &json!(-1.5), Ordering::Greater);
        check(&json!(-2), &json!(-1.5), Ordering::Less);
        check(&json!(1e300), &json!(u64::MAX), Ordering::Greater);
        check(&json!(-1e300), &json!(i64::MIN), Ordering::Less);
        check(&json!(1e300), &json!(1e301), Ordering::Less);
    }

    #[test]
    fn whole_floats_are_integers() {
        for (value, expected) in [
            (json!(1.0), true),
            (json!(1e300), true),
            (json!(u64::MAX), true),
            (json!(1.5), false),
            (json!(1e-300), false),
        ] {
            assert_eq!(Num::of(value.as_number().unwrap()).is_whole(), expected, "{value}");
        }
    }

    #[test]
    fn reads_decimal_text_only() {
        for (text, expected) in [
            ("5", json!(5)),
            (" 5\t", json!(5)),
            ("+5", json!(5)),
            ("-5", json!(-5)),
            ("007", json!(7)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1e3", json!(1000.0)),
            ("-1.5E-1", json!(-0.15)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(parse(text).map(Value::from), Some(expected), "{text:?}");
        }
        for text in [
            "", " ", "+", "-", ".", "5.", "e5", "1e", "1e+", "0x10", "1_000", "1,5", "++1", "NaN",
            "inf", "Infinity", "1e400", "-1e400", "٣", "1 2", "1.2.3",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn strict_numbers_are_written_as_in_json() {
        for text in ["0", "5", "-5", "10", "1.50", "-0.0", "18446744073709551616"] {
            assert!(is_strict(text), "{text:?}");
        }
        for text in ["", "-", "+5", "1e1", " 5", "5 ", "007", "-01", ".5", "5.", "1.2.3", "٣", "x"]
        {
            assert!(!is_strict(text), "{text:?}");
        }
    }

    #[test]
    fn recognizes_decimal_text_without_parsing_it() {
        // Numbers of any size, but without white space.
        for (text, expected) in [
            ("5", true),
            (".5", true),
            ("1e400", true),
            ("5.", false),
            (" 5", false),
            ("NaN", false),
        ] {
            assert_eq!(is_decimal(text), expected, "{text:?}");
        }
    }
}
