//! Reads JSON into any type that implements `Deserialize`.

use std::fmt;
use std::sync::LazyLock;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Number, Value};

use crate::key::KeyReader;
use crate::nesting::Levels;
use crate::{Date, SerializationError};

/// Reads the JSON that [`serialize_for_json`](crate::serialize_for_json)
/// writes.
///
/// Unlike `serde_json::from_value`, it reads a `SystemTime` from a date, an
/// integer beyond 64 bits from a string, and a map key of any type.
///
/// # Beyond the spec
/// The specification does not have this function. A float that is not finite is
/// written as `null`, but `null` is not read as a float.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::SystemTime;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::deserialize_from_json;
///
/// let value = json!({ "[1,2]": "1970-01-01" });
/// let read: BTreeMap<(u8, u8), SystemTime> = deserialize_from_json(value)?;
/// assert_eq!(read[&(1, 2)], SystemTime::UNIX_EPOCH);
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Returns [`Unreadable`](SerializationError::Unreadable), a 400, if the value
/// does not match `T` or is nested more than [`MAX_DEPTH`](crate::MAX_DEPTH)
/// levels deep.
pub fn deserialize_from_json<T: DeserializeOwned>(value: Value) -> Result<T, SerializationError> {
    // A flattened or tagged type may fail on a number with all its digits,
    // because serde_json passes such a number as an object. Retry with rounded
    // numbers.
    let mut rounded = if keeps_digits() { Some(value.clone()) } else { None };
    let read = T::deserialize(ValueReader(value));
    if read.is_err()
        && let Some(mut value) = rounded.take()
        && round(&mut value)
    {
        return T::deserialize(ValueReader(value)).map_err(Into::into);
    }
    read.map_err(Into::into)
}

/// Returns true if serde_json preserves all digits of a number, through its
/// feature `arbitrary_precision`. Any crate may enable it.
fn keeps_digits() -> bool {
    static KEEPS: LazyLock<bool> = LazyLock::new(|| {
        let read = serde_json::from_str::<Number>("1.00");
        read.is_ok_and(|number| number.to_string() == "1.00")
    });
    *KEEPS
}

/// Replaces each number that is not an integer with the nearest float. Returns
/// true if a number changes.
fn round(value: &mut Value) -> bool {
    match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => false,
        Value::Number(number) => match number.as_f64().and_then(Number::from_f64) {
            Some(rounded) => std::mem::replace(number, rounded.clone()) != rounded,
            None => false,
        },
        // Does not stop early: every element must be rounded.
        Value::Array(items) => items.iter_mut().fold(false, |changes, item| round(item) | changes),
        Value::Object(entries) => {
            entries.values_mut().fold(false, |changes, item| round(item) | changes)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Reads a key from its text.
pub(crate) fn read_key<K: DeserializeOwned>(text: String) -> Result<K, SerializationError> {
    K::deserialize(KeyReader(text)).map_err(Into::into)
}

/// Enters an array or an object. Excessive nesting is the client's fault.
pub(crate) fn enter_to_read() -> Result<Levels, SerializationError> {
    Levels::enter(1).map_err(|error| ReadError::from(error).into())
}

/// A read error with its message.
#[derive(Debug)]
pub(crate) struct ReadError(String);

impl From<ReadError> for SerializationError {
    fn from(error: ReadError) -> Self {
        Self::Unreadable { message: error.0 }
    }
}

/// The client's data causes every read error.
impl From<SerializationError> for ReadError {
    fn from(error: SerializationError) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Reads a value of the target type.
pub(crate) struct ValueReader(pub(crate) Value);

impl IntoDeserializer<'_, ReadError> for ValueReader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ValueReader {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => number.deserialize_any(visitor).map_err(ReadError::custom),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => read_items(items, visitor),
            Value::Object(entries) => read_entries(entries, visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::Number(number) => number.deserialize_f32(visitor).map_err(ReadError::custom),
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::Number(number) => number.deserialize_f64(visitor).map_err(ReadError::custom),
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(digits) => KeyReader(digits).deserialize_i128(visitor),
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(digits) => KeyReader(digits).deserialize_u128(visitor),
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            other => {
                let _inside = Levels::unwrap_one()?;
                visitor.visit_some(Self(other))
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let _inside = Levels::unwrap_one()?;
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(text) if is_system_time(name, fields) => read_date(&text, visitor),
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            Value::Object(entries) if entries.len() == 1 => {
                let _inside = Levels::enter(1)?;
                visitor.visit_enum(MapAccessDeserializer::new(readers(entries)))
            }
            _ => Err(ReadError::custom("expected a variant: a string, or an object with one key")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn read_items<'de, V: Visitor<'de>>(items: Vec<Value>, visitor: V) -> Result<V::Value, ReadError> {
    let _inside = Levels::enter(1)?;
    let mut items = SeqDeserializer::new(items.into_iter().map(ValueReader));
    let read = visitor.visit_seq(&mut items)?;
    items.end()?;
    Ok(read)
}

fn read_entries<'de, V: Visitor<'de>>(
    entries: Map<String, Value>,
    visitor: V,
) -> Result<V::Value, ReadError> {
    let _inside = Levels::enter(1)?;
    let mut entries = readers(entries);
    let read = visitor.visit_map(&mut entries)?;
    entries.end()?;
    Ok(read)
}

fn readers<'de>(
    entries: Map<String, Value>,
) -> MapDeserializer<'de, impl Iterator<Item = (KeyReader, ValueReader)>, ReadError> {
    MapDeserializer::new(
        entries.into_iter().map(|(key, value)| (KeyReader(key), ValueReader(value))),
    )
}

/// Passes serde the two fields of a `SystemTime`.
fn read_date<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, ReadError> {
    let date: Date = text.parse()?;
    let Ok(milliseconds) = u64::try_from(date.as_millis()) else {
        return Err(ReadError::invalid_value(Unexpected::Str(text), &"a date in 1970 or later"));
    };
    let values = [milliseconds / 1_000, milliseconds % 1_000 * 1_000_000];
    visitor.visit_map(MapDeserializer::new(SYSTEM_TIME_FIELDS.into_iter().zip(values)))
}

/// Returns true for serde's description of a `SystemTime`.
fn is_system_time(name: &str, fields: &[&str]) -> bool {
    name == SYSTEM_TIME && fields == SYSTEM_TIME_FIELDS
}

pub(crate) const SYSTEM_TIME: &str = "SystemTime";
pub(crate) const SYSTEM_TIME_FIELDS: [&str; 2] = ["secs_since_epoch", "nanos_since_epoch"];
