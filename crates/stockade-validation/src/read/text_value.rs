//! Texts that represent numbers and booleans, as in a query string.

use std::str::FromStr;

use super::source::{ExpectedKind, Integer, Wide};
use super::type_error::TypeError;
use crate::number::is_decimal;
use stockade_json::Number;

/// Returns the boolean that a text represents.
pub(super) fn boolean(text: &str) -> Result<bool, TypeError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(TypeError::kind(ExpectedKind::Boolean, "string")),
    }
}

/// Returns the number that a text represents, if it fits the expected type.
#[inline]
pub(super) fn number(text: &str, wanted: ExpectedKind) -> Result<Number, TypeError> {
    match wanted {
        ExpectedKind::Integer(integer) => integer.read(text).ok_or_else(|| integer.misfit(text)),
        _ => decimal(text, wanted),
    }
}

fn decimal(text: &str, wanted: ExpectedKind) -> Result<Number, TypeError> {
    let number = match wanted {
        // Rust also reads "inf", "NaN" and "5.", which are not JSON numbers.
        _ if !is_decimal(text) => None,
        ExpectedKind::Float32 => text.parse().ok().map(|float: f32| f64::from(float)),
        _ => text.parse().ok(),
    };
    let number = number.filter(|float: &f64| float.is_finite());
    number.map(Number::Float).ok_or_else(|| TypeError::kind(wanted, "string"))
}

/// Returns the integer of up to 128 bits that a text represents.
pub(super) fn wide(text: &str, integer: Integer) -> Result<Wide, TypeError> {
    let wide = match integer {
        Integer::U128 => text.parse().ok().map(Wide::Unsigned),
        _ => text.parse().ok().map(Wide::Signed),
    };
    wide.ok_or_else(|| integer.misfit(text))
}

/// Returns the number of a text, parsed as a type that converts to `i64`.
fn signed<N: FromStr + Into<i64>>(text: &str) -> Option<Number> {
    let whole: i64 = text.parse::<N>().ok()?.into();
    Some(u64::try_from(whole).map_or(Number::Negative(whole), Number::Whole))
}

/// Returns the number of a text, parsed as a type that converts to `u64`.
fn unsigned<N: FromStr + Into<u64>>(text: &str) -> Option<Number> {
    text.parse::<N>().ok().map(|whole| Number::Whole(whole.into()))
}

impl Integer {
    #[inline]
    fn read(self, text: &str) -> Option<Number> {
        match self {
            Self::I8 => signed::<i8>(text),
            Self::I16 => signed::<i16>(text),
            Self::I32 => signed::<i32>(text),
            Self::I64 | Self::I128 => signed::<i64>(text),
            Self::U8 => unsigned::<u8>(text),
            Self::U16 => unsigned::<u16>(text),
            Self::U32 => unsigned::<u32>(text),
            Self::U64 | Self::U128 => unsigned::<u64>(text),
        }
    }

    #[cold]
    fn misfit(self, text: &str) -> TypeError {
        if text.parse::<i128>().is_err() {
            return TypeError::kind(ExpectedKind::Integer(self), "string");
        }
        let (low, high) = match self {
            Self::I8 => (i8::MIN.into(), u128::from(i8::MAX.unsigned_abs())),
            Self::I16 => (i16::MIN.into(), u128::from(i16::MAX.unsigned_abs())),
            Self::I32 => (i32::MIN.into(), u128::from(i32::MAX.unsigned_abs())),
            Self::I64 => (i64::MIN.into(), u128::from(i64::MAX.unsigned_abs())),
            Self::I128 => (i128::MIN, i128::MAX.unsigned_abs()),
            Self::U8 => (0, u8::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::U128 => (0, u128::MAX),
        };
        TypeError::message(format!("Expected an integer from {low} to {high}"))
    }
}
