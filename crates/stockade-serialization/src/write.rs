//! Writes any type that implements `Serialize` as JSON.

use std::fmt;

use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::{Map, Value};
use stockade_json::{NUMBER, RAW_VALUE};

use crate::nesting::Levels;
use crate::read::{SYSTEM_TIME, SYSTEM_TIME_FIELDS};
use crate::{Date, SerializationError, key};

/// Converts any value to JSON. At every depth, dates become ISO 8601 strings,
/// maps become objects, and sets become arrays.
///
/// The [crate docs](crate) have a table of all conversions.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::SystemTime;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::serialize_for_json;
///
/// let value = serialize_for_json(&BTreeMap::from([(7, Some(SystemTime::UNIX_EPOCH))]))?;
/// assert_eq!(value, json!({ "7": "1970-01-01T00:00:00.000Z" }));
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Fails if a `Serialize` implementation fails, a date is out of range, or two
/// keys become the same text. Also fails if the nesting is deeper than
/// [`MAX_DEPTH`](crate::MAX_DEPTH), which includes cyclic data. All errors are
/// a 500.
// Spec: Serialization helpers.
#[doc(alias = "serializeForJSON")]
pub fn serialize_for_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, SerializationError> {
    value.serialize(ValueWriter).map_err(|error| error.0)
}

/// Adds an entry to an object.
pub(crate) fn insert(
    entries: &mut Map<String, Value>,
    key: String,
    value: Value,
) -> Result<(), SerializationError> {
    if entries.contains_key(&key) {
        return Err(SerializationError::duplicate_key(&key));
    }
    entries.insert(key, value);
    Ok(())
}

/// A write error.
#[derive(Debug)]
struct WriteError(SerializationError);

impl From<SerializationError> for WriteError {
    fn from(error: SerializationError) -> Self {
        Self(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for WriteError {}

impl ser::Error for WriteError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(SerializationError::Unwritable { message: message.to_string() })
    }
}

type Written = Result<Value, WriteError>;

/// Writes one value.
struct ValueWriter;

macro_rules! same_as_json {
    ($($serialize:ident($kind:ty)),* $(,)?) => {
        $(
            fn $serialize(self, value: $kind) -> Written {
                Ok(value.into())
            }
        )*
    };
}

impl Serializer for ValueWriter {
    type Ok = Value;
    type Error = WriteError;
    type SerializeSeq = ItemsWriter;
    type SerializeTuple = ItemsWriter;
    type SerializeTupleStruct = ItemsWriter;
    type SerializeTupleVariant = ItemsWriter;
    type SerializeMap = EntriesWriter;
    type SerializeStruct = EntriesWriter;
    type SerializeStructVariant = EntriesWriter;

    same_as_json! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_f64(f64),
        serialize_str(&str),
    }

    fn serialize_i128(self, value: i128) -> Written {
        Ok(i64::try_from(value)
            .map(Into::into)
            .or_else(|_| u64::try_from(value).map(Into::into))
            .unwrap_or_else(|_| value.to_string().into()))
    }

    fn serialize_u128(self, value: u128) -> Written {
        Ok(u64::try_from(value).map_or_else(|_| value.to_string().into(), Into::into))
    }

    fn serialize_f32(self, value: f32) -> Written {
        // A cast would convert 0.1 to 0.10000000149011612. The text is always a
        // number, except for NaN and infinity.
        Ok(value.to_string().parse::<f64>().ok().into())
    }

    fn serialize_char(self, value: char) -> Written {
        Ok(value.to_string().into())
    }

    fn serialize_bytes(self, value: &[u8]) -> Written {
        let _inside = Levels::enter(1)?;
        Ok(value.into())
    }

    fn serialize_none(self) -> Written {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        let _inside = Levels::unwrap_one()?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Written {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Written {
        let _inside = Levels::unwrap_one()?;
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let _inside = Levels::enter(1)?;
        Ok(tagged(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<ItemsWriter, WriteError> {
        // The length is only a capacity hint.
        ItemsWriter::new(len.unwrap_or_default(), None)
    }

    fn serialize_tuple(self, len: usize) -> Result<ItemsWriter, WriteError> {
        ItemsWriter::new(len, None)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<ItemsWriter, WriteError> {
        ItemsWriter::new(len, None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ItemsWriter, WriteError> {
        ItemsWriter::new(len, Some(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<EntriesWriter, WriteError> {
        EntriesWriter::new("", None)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _len: usize,
    ) -> Result<EntriesWriter, WriteError> {
        EntriesWriter::new(name, None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<EntriesWriter, WriteError> {
        EntriesWriter::new("", Some(variant))
    }
}

/// Writes an array.
struct ItemsWriter {
    _inside: Levels,
    items: Vec<Value>,
    variant: Option<&'static str>,
}

impl ItemsWriter {
    fn new(len: usize, variant: Option<&'static str>) -> Result<Self, WriteError> {
        let levels = Levels::enter(1 + usize::from(variant.is_some()))?;
        // The length is an untrusted hint.
        let items = Vec::with_capacity(len.min(MAX_RESERVED));
        Ok(Self { _inside: levels, items, variant })
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.items.push(value.serialize(ValueWriter)?);
        Ok(())
    }

    fn finish(self) -> Written {
        Ok(tagged(self.variant, self.items.into()))
    }
}

const MAX_RESERVED: usize = 4_096;

/// Writes an object.
struct EntriesWriter {
    _inside: Levels,
    /// The name of a struct, as serde passes it. Otherwise empty.
    name: &'static str,
    entries: Map<String, Value>,
    /// The key for the next value.
    key: Option<String>,
    variant: Option<&'static str>,
}

impl EntriesWriter {
    fn new(name: &'static str, variant: Option<&'static str>) -> Result<Self, WriteError> {
        let levels = match name {
            // The output is a string or the embedded JSON, so the struct does
            // not add a level.
            SYSTEM_TIME | RAW_VALUE | NUMBER => Levels::unwrap_one()?,
            _ => Levels::enter(1 + usize::from(variant.is_some()))?,
        };
        Ok(Self { _inside: levels, name, entries: Map::new(), key: None, variant })
    }

    fn push<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), WriteError> {
        let value = value.serialize(ValueWriter)?;
        Ok(insert(&mut self.entries, key, value)?)
    }

    fn finish(self) -> Written {
        match self.name {
            SYSTEM_TIME => system_time(&self.entries).unwrap_or_else(|| Ok(self.entries.into())),
            RAW_VALUE | NUMBER => embedded(&self.entries),
            _ => Ok(tagged(self.variant, self.entries.into())),
        }
    }
}

/// Returns the text of a `SystemTime` if the entries are its two fields.
fn system_time(entries: &Map<String, Value>) -> Option<Written> {
    let [seconds, nanoseconds] = SYSTEM_TIME_FIELDS.map(|field| entries.get(field)?.as_u64());
    let (seconds, nanoseconds) = (i128::from(seconds?), i128::from(nanoseconds?));
    (entries.len() == SYSTEM_TIME_FIELDS.len()).then(|| {
        let date = Date::from_nanos(seconds * 1_000_000_000 + nanoseconds)?;
        Ok(date.to_string().into())
    })
}

/// Parses a string that is already JSON.
fn embedded(entries: &Map<String, Value>) -> Written {
    // An empty text is not valid JSON, so a missing text is an error.
    let json = entries.values().next().and_then(Value::as_str).unwrap_or_default();
    let value: Value = serde_json::from_str(json).map_err(WriteError::custom)?;
    check_depth(&value)?;
    Ok(value)
}

/// Fails if a value is too deep at this level. serde_json has already limited
/// its depth.
fn check_depth(value: &Value) -> Result<(), SerializationError> {
    match value {
        Value::Array(items) => {
            let _inside = Levels::enter(1)?;
            items.iter().try_for_each(check_depth)
        }
        Value::Object(entries) => {
            let _inside = Levels::enter(1)?;
            entries.values().try_for_each(check_depth)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Puts the content of a variant into an object under the variant's name.
fn tagged(variant: Option<&str>, value: Value) -> Value {
    match variant {
        Some(variant) => Map::from_iter([(variant.to_owned(), value)]).into(),
        None => value,
    }
}

/// Implements the serde traits that write an array and differ only in their
/// names.
macro_rules! write_items {
    ($($compound:ident by $element:ident),* $(,)?) => {
        $(
            impl ser::$compound for ItemsWriter {
                type Ok = Value;
                type Error = WriteError;

                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                    self.push(value)
                }

                fn end(self) -> Written {
                    self.finish()
                }
            }
        )*
    };
}

write_items! {
    SerializeSeq by serialize_element,
    SerializeTuple by serialize_element,
    SerializeTupleStruct by serialize_field,
    SerializeTupleVariant by serialize_field,
}

impl ser::SerializeMap for EntriesWriter {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key = Some(key::text(key.serialize(ValueWriter)?));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let key = self.key.take().ok_or_else(|| WriteError::custom("a value without a key"))?;
        self.push(key, value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

/// Implements the serde traits that write the fields of an object.
macro_rules! write_fields {
    ($($compound:ident),*) => {
        $(
            impl ser::$compound for EntriesWriter {
                type Ok = Value;
                type Error = WriteError;

                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    name: &'static str,
                    value: &T,
                ) -> Result<(), WriteError> {
                    self.push(name.to_owned(), value)
                }

                fn end(self) -> Written {
                    self.finish()
                }
            }
        )*
    };
}

write_fields!(SerializeStruct, SerializeStructVariant);
