//! Texts that stand for numbers and booleans, as in a query string.

use super::misfit::Misfit;
use super::source::{Integer, Wanted};
use crate::json::Number;
use crate::number::is_decimal;

/// Returns the boolean that a text stands for.
pub(super) fn boolean(text: &str) -> Result<bool, Misfit> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Misfit::kind(Wanted::Boolean, "string")),
    }
}

/// Returns the number that a text stands for, if the wanted type can hold it.
pub(super) fn number(text: &str, wanted: Wanted) -> Result<Number, Misfit> {
    let number = match wanted {
        Wanted::Integer(integer) => return integer.read(text),
        // Rust also reads "inf", "NaN" and "5.", which are no numbers in JSON.
        _ if !is_decimal(text) => None,
        Wanted::Float32 => text.parse().ok().map(|float: f32| f64::from(float)),
        _ => text.parse().ok(),
    };
    let number = number.filter(|float: &f64| float.is_finite());
    number.map(Number::Float).ok_or_else(|| Misfit::kind(wanted, "string"))
}

/// The number of a text by the type of it.
macro_rules! read_as {
    ($text:ident, $type:ty, $number:ident) => {
        match $text.parse::<$type>() {
            Ok(number) => Ok(Number::$number(number.into())),
            Err(_) => Err((<$type>::MIN.to_string(), <$type>::MAX.to_string())),
        }
    };
}

impl Integer {
    fn read(self, text: &str) -> Result<Number, Misfit> {
        let read = match self {
            Self::I8 => read_as!(text, i8, Negative),
            Self::I16 => read_as!(text, i16, Negative),
            Self::I32 => read_as!(text, i32, Negative),
            Self::I64 => read_as!(text, i64, Negative),
            Self::I128 => read_as!(text, i128, Wide),
            Self::U8 => read_as!(text, u8, Whole),
            Self::U16 => read_as!(text, u16, Whole),
            Self::U32 => read_as!(text, u32, Whole),
            Self::U64 => read_as!(text, u64, Whole),
            Self::U128 => read_as!(text, u128, Widest),
        };
        read.map_err(|(low, high)| {
            if text.parse::<i128>().is_ok() {
                Misfit::message(format!("Expected an integer from {low} to {high}"))
            } else {
                Misfit::kind(Wanted::Integer(self), "string")
            }
        })
    }
}
