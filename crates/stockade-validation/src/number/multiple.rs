//! Multiples of decimal numbers, without rounding.
//!
//! Source: JSON Schema 2020-12, validation, section 6.2.1 (`multipleOf`).

use std::fmt::{self, Write as _};

use super::Num;

/// Returns true if `num` is a whole multiple of `factor`, which is above 0. A
/// fraction counts as its shortest decimal number, so 0.3 is a multiple of 0.1.
pub(crate) fn is_multiple(num: Num, factor: Num) -> bool {
    match (num, factor) {
        // The common case.
        (Num::Whole(whole), Num::Whole(factor)) => whole.checked_rem(factor) == Some(0),
        // Digits that do not fit are unknown.
        (Num::Float(float), _) if !float.is_finite() => false,
        (_, Num::Float(float)) if !float.is_finite() => matches!(num, Num::Whole(0)),
        _ => match (Decimal::of(num), Decimal::of(factor)) {
            (Some(decimal), Some(factor)) => decimal.is_multiple(factor),
            _ => false,
        },
    }
}

/// The magnitude of a number: digits times a power of ten.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    /// Below 2^127.
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn of(num: Num) -> Option<Self> {
        let float = match num {
            Num::Whole(whole) => return Some(Self { digits: whole.unsigned_abs(), exponent: 0 }),
            Num::Float(float) => float.abs(),
        };
        let mut text = Text { bytes: [0; 32], length: 0 };
        write!(text, "{float:e}").ok()?;
        let text = std::str::from_utf8(text.bytes.get(..text.length)?).ok()?;
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = whole.bytes().chain(fraction.bytes());
        let digits = digits.fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        let places = i32::try_from(fraction.len()).ok()?;
        Some(Self { digits, exponent: exponent.parse::<i32>().ok()? - places })
    }

    fn is_multiple(self, factor: Self) -> bool {
        let modulus = factor.digits;
        if modulus == 0 || self.digits == 0 {
            return self.digits == 0;
        }
        let power = self.exponent - factor.exponent;
        if power < 0 {
            let scale = 10_u128.checked_pow(power.unsigned_abs());
            let modulus = scale.and_then(|scale| modulus.checked_mul(scale));
            // A number with fewer digits is not a multiple of a larger number.
            return modulus.is_some_and(|modulus| self.digits.is_multiple_of(modulus));
        }
        // The remainder of the digits with `power` zeros after them.
        let mut rest = self.digits % modulus;
        let double = |rest: u128| {
            let twice = rest << 1;
            if twice >= modulus { twice - modulus } else { twice }
        };
        for _ in 0..power {
            let twice = double(rest);
            let sum = double(double(twice)) + twice;
            rest = if sum >= modulus { sum - modulus } else { sum };
            if rest == 0 {
                break;
            }
        }
        rest == 0
    }
}

/// A text buffer. The longest float in scientific notation has 24 bytes.
struct Text {
    bytes: [u8; 32],
    length: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(num: &Value, factor: &Value, expected: bool) {
        let [num, factor] = [num, factor].map(|it| Num::of(it.as_number().unwrap()));
        assert_eq!(is_multiple(num, factor), expected, "{num:?} of {factor:?}");
    }

    #[test]
    fn decimal_fractions_are_exact() {
        for tenths in 0..10_000_i32 {
            let number: f64 = format!("{}.{}", tenths / 10, tenths % 10).parse().unwrap();
            check(&json!(number), &json!(0.1), true);
            check(&json!(-number), &json!(0.1), true);
            check(&json!(number), &json!(0.2), tenths % 2 == 0);
            check(&json!(number), &json!(0.01), true);
            check(&json!(number), &json!(2.5), tenths % 25 == 0);
            check(&json!(number), &json!(1), tenths % 10 == 0);
        }
        check(&json!(19.99), &json!(0.01), true);
        check(&json!(4.02), &json!(0.01), true);
        check(&json!(0.0075), &json!(0.0001), true);
        check(&json!(0.007_51), &json!(0.0001), false);
        check(&json!(0.35), &json!(0.1), false);
    }

    #[test]
    fn handles_extreme_numbers() {
        check(&json!(1e308), &json!(1e-8), true);
        check(&json!(1e308), &json!(0.123_456_789), false);
        check(&json!(1e308), &json!(0.5), true);
        check(&json!(5e-324), &json!(5e-324), true);
        check(&json!(1.5e-323), &json!(1e-323), false);
        check(&json!(1e-7), &json!(1e300), false);
        check(&json!(0), &json!(1e300), true);
        check(&json!(1e300), &json!(1e299), true);
        check(&json!(u64::MAX), &json!(0.1), true);
        check(&json!(u64::MAX), &json!(0.3), true);
        check(&json!(u64::MAX), &json!(0.7), false);
        check(&json!(i64::MIN), &json!(2), true);
        check(&json!(9_007_199_254_740_993_u64), &json!(2), false);
        check(&json!(1e30), &json!(7), false);
        check(&json!(7e15), &json!(7), true);
        assert!(!is_multiple(Num::Float(f64::INFINITY), Num::Whole(2)));
        assert!(is_multiple(Num::Whole(0), Num::Float(f64::INFINITY)));
        assert!(!is_multiple(Num::Whole(2), Num::Float(f64::INFINITY)));
    }
}
