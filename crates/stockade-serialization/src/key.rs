//! Map keys as text.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::Value;

use crate::read::{ReadError, ValueReader};

/// Returns the text of a key. A string is unchanged, and any other value
/// becomes its JSON text.
pub(crate) fn text(key: Value) -> String {
    match key {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Reads a key of the target type from its text.
pub(crate) struct KeyReader(pub(crate) String);

impl KeyReader {
    /// Reads an integer without a plus sign or leading zeros, because different
    /// texts must be different keys.
    fn integer<N: Display + FromStr>(&self, visitor: &impl Expects) -> Result<N, ReadError> {
        let number = self.0.parse::<N>().ok().filter(|number| number.to_string() == self.0);
        number.ok_or_else(|| visitor.got_text(&self.0))
    }

    /// Reads a scalar in JSON notation.
    fn scalar<T: serde::de::DeserializeOwned>(
        &self,
        visitor: &impl Expects,
    ) -> Result<T, ReadError> {
        serde_json::from_str(&self.0).map_err(|_| visitor.got_text(&self.0))
    }

    /// Parses the text as JSON, or uses it as a string if it is not JSON.
    fn json(self) -> ValueReader {
        ValueReader(serde_json::from_str(&self.0).unwrap_or(Value::String(self.0)))
    }
}

/// A visitor that supplies the expectation for an error message.
trait Expects {
    fn got_text(&self, text: &str) -> ReadError;
}

impl<'de, V: Visitor<'de>> Expects for V {
    fn got_text(&self, text: &str) -> ReadError {
        ReadError::invalid_value(Unexpected::Str(text), self)
    }
}

impl IntoDeserializer<'_, ReadError> for KeyReader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($deserialize:ident $visit:ident),* $(,)?) => {
        $(
            fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
                let number = self.integer(&visitor)?;
                visitor.$visit(number)
            }
        )*
    };
}

/// Reads types other than scalars from JSON in the text.
macro_rules! through_json {
    ($($deserialize:ident($($argument:ident: $kind:ty),*)),* $(,)?) => {
        $(
            fn $deserialize<V: Visitor<'de>>(
                self,
                $($argument: $kind,)*
                visitor: V,
            ) -> Result<V::Value, ReadError> {
                self.json().$deserialize($($argument,)* visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for KeyReader {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let value = self.scalar(&visitor)?;
        visitor.visit_bool(value)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let value = self.scalar(&visitor)?;
        visitor.visit_f32(value)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let value = self.scalar(&visitor)?;
        visitor.visit_f64(value)
    }

    integers! {
        deserialize_i8 visit_i8,
        deserialize_i16 visit_i16,
        deserialize_i32 visit_i32,
        deserialize_i64 visit_i64,
        deserialize_i128 visit_i128,
        deserialize_u8 visit_u8,
        deserialize_u16 visit_u16,
        deserialize_u32 visit_u32,
        deserialize_u64 visit_u64,
        deserialize_u128 visit_u128,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.0 == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        // Only an object is parsed as JSON: the name of a unit variant, such as
        // `true`, may also be valid JSON.
        let reader = if self.0.starts_with('{') { self.json() } else { ValueReader(self.0.into()) };
        reader.deserialize_enum(name, variants, visitor)
    }

    through_json! {
        deserialize_bytes(),
        deserialize_byte_buf(),
        deserialize_unit(),
        deserialize_unit_struct(name: &'static str),
        deserialize_seq(),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_map(),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]),
    }

    forward_to_deserialize_any! { char str string identifier ignored_any }
}
