//! [`Serialization`] and [`Deserialization`]: the helpers with options.
// Spec: Middleware helpers › `withSerialization`.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::nesting::Levels;
use crate::{
    FromDate, SerializationError, SerializationOptions, ToDate, deserialize_date,
    deserialize_from_json, deserialize_map, deserialize_set, serialize_date, serialize_for_json,
    serialize_map, serialize_set,
};

/// Helpers that write dates, maps and sets. Clones are cheap.
///
/// ```
/// use std::time::SystemTime;
///
/// use stockade::serialization::{Serialization, SerializationOptions};
///
/// let serialize = Serialization::new(SerializationOptions::new().enable_date(false));
/// let error = serialize.date(&SystemTime::now()).unwrap_err();
/// assert_eq!(error.to_string(), "disabled by the option `enable_date`");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Serialization {
    options: Arc<SerializationOptions>,
}

impl Serialization {
    /// Creates helpers with these options.
    pub fn new(options: impl Into<Arc<SerializationOptions>>) -> Self {
        Self { options: options.into() }
    }

    /// Writes a date like [`serialize_date`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`serialize_date`], if dates are disabled, or if the custom
    /// function fails.
    pub fn date<D: ToDate + ?Sized>(&self, date: &D) -> Result<String, SerializationError> {
        enabled(self.options.enable_date, ENABLE_DATE)?;
        match &self.options.custom.write_date {
            Some(write) => write(date.to_date()?),
            None => serialize_date(date),
        }
    }

    /// Writes a map like [`serialize_map`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`serialize_map`], if maps are disabled, or if the custom
    /// function fails.
    pub fn map<'a, M, K, V>(&self, map: &'a M) -> Result<Value, SerializationError>
    where
        M: ?Sized,
        &'a M: IntoIterator<Item = (K, V)>,
        K: Serialize,
        V: Serialize,
    {
        enabled(self.options.enable_map, ENABLE_MAP)?;
        let Some(write) = &self.options.custom.write_map else {
            return serialize_map(map);
        };
        let _inside = Levels::enter(1)?;
        let entry = |(key, value)| Ok((serialize_for_json(&key)?, serialize_for_json(&value)?));
        write(map.into_iter().map(entry).collect::<Result<_, SerializationError>>()?)
    }

    /// Writes a set like [`serialize_set`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`serialize_set`], if sets are disabled, or if the custom
    /// function fails.
    pub fn set<'a, C>(&self, set: &'a C) -> Result<Value, SerializationError>
    where
        C: ?Sized,
        &'a C: IntoIterator<Item: Serialize>,
    {
        enabled(self.options.enable_set, ENABLE_SET)?;
        let Some(write) = &self.options.custom.write_set else {
            return serialize_set(set);
        };
        let _inside = Levels::enter(1)?;
        let elements = set.into_iter().map(|element| serialize_for_json(&element));
        write(elements.collect::<Result<_, _>>()?)
    }
}

/// Helpers that read dates, maps and sets. Clones are cheap.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::Deserialization;
///
/// let set: BTreeSet<u8> = Deserialization::default().set(json!([1, 1]))?;
/// assert_eq!(set, BTreeSet::from([1]));
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deserialization {
    options: Arc<SerializationOptions>,
}

impl Deserialization {
    /// Creates helpers with these options.
    pub fn new(options: impl Into<Arc<SerializationOptions>>) -> Self {
        Self { options: options.into() }
    }

    /// Reads a date like [`deserialize_date`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`deserialize_date`], if dates are disabled, or if the custom
    /// function fails.
    pub fn date<D: FromDate>(&self, text: &str) -> Result<D, SerializationError> {
        enabled(self.options.enable_date, ENABLE_DATE)?;
        match &self.options.custom.read_date {
            Some(read) => {
                D::from_date(read(text)?).map_err(|_| SerializationError::unreadable_date(text))
            }
            None => deserialize_date(text),
        }
    }

    /// Reads a map like [`deserialize_map`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`deserialize_map`], if maps are disabled, or if the custom
    /// function fails.
    pub fn map<M, K, V>(&self, value: Value) -> Result<M, SerializationError>
    where
        M: FromIterator<(K, V)> + IntoIterator<Item = (K, V)>,
        K: DeserializeOwned,
        V: DeserializeOwned,
    {
        enabled(self.options.enable_map, ENABLE_MAP)?;
        let Some(read) = &self.options.custom.read_map else {
            return deserialize_map(value);
        };
        let entry = |(key, value)| Ok((deserialize_from_json(key)?, deserialize_from_json(value)?));
        read(value)?.into_iter().map(entry).collect()
    }

    /// Reads a set like [`deserialize_set`], or with the custom function.
    ///
    /// # Errors
    /// Fails like [`deserialize_set`], if sets are disabled, or if the custom
    /// function fails.
    pub fn set<C>(&self, value: Value) -> Result<C, SerializationError>
    where
        C: FromIterator<C::Item> + IntoIterator<Item: DeserializeOwned>,
    {
        enabled(self.options.enable_set, ENABLE_SET)?;
        let Some(read) = &self.options.custom.read_set else {
            return deserialize_set(value);
        };
        read(value)?.into_iter().map(deserialize_from_json).collect()
    }
}

fn enabled(is_enabled: bool, option: &'static str) -> Result<(), SerializationError> {
    if is_enabled { Ok(()) } else { Err(SerializationError::SwitchedOff { option }) }
}

const ENABLE_DATE: &str = "enable_date";
const ENABLE_MAP: &str = "enable_map";
const ENABLE_SET: &str = "enable_set";
