//! Sets: [`serialize_set`], [`deserialize_set`], and the functions for
//! `#[serde(with = "stockade::serialization::set")]`.
//!
//! ```
//! use std::collections::BTreeSet;
//! use std::time::SystemTime;
//!
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Calendar {
//!     #[serde(with = "stockade::serialization::set")]
//!     holidays: BTreeSet<SystemTime>,
//! }
//!
//! let calendar: Calendar = stockade::serde_json::from_str(r#"{"holidays":["1970-01-01"]}"#)?;
//! let text = r#"{"holidays":["1970-01-01T00:00:00.000Z"]}"#;
//! assert_eq!(stockade::serde_json::to_string(&calendar)?, text);
//! # Ok::<(), stockade::serde_json::Error>(())
//! ```
// Spec: Serialization helpers.

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{self, Serialize, Serializer};
use serde_json::Value;

use crate::nesting::Levels;
use crate::read::enter_to_read;
use crate::{SerializationError, deserialize_from_json, serialize_for_json};

/// Converts a set to an array, in the order of the set.
///
/// Elements are written like in [`serialize_for_json`].
///
/// ```
/// use std::collections::BTreeSet;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::serialize_set;
///
/// assert_eq!(serialize_set(&BTreeSet::from([3, 1, 2]))?, json!([1, 2, 3]));
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Fails like [`serialize_for_json`].
// Spec: Serialization helpers.
pub fn serialize_set<'a, C>(set: &'a C) -> Result<Value, SerializationError>
where
    C: ?Sized,
    &'a C: IntoIterator<Item: Serialize>,
{
    let _inside = Levels::enter(1)?;
    set.into_iter().map(|element| serialize_for_json(&element)).collect()
}

/// Converts an array to a set.
///
/// `C` is any collection of the elements, such as `HashSet`, `BTreeSet` or
/// `Vec`. A set ignores duplicate elements, as in JavaScript.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::deserialize_set;
///
/// let set: BTreeSet<u8> = deserialize_set(json!([2, 1, 2]))?;
/// assert_eq!(set, BTreeSet::from([1, 2]));
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Returns [`Unreadable`](SerializationError::Unreadable), a 400, if the value
/// is not an array or an element does not match.
// Spec: Serialization helpers.
pub fn deserialize_set<C>(value: Value) -> Result<C, SerializationError>
where
    C: FromIterator<C::Item> + IntoIterator<Item: DeserializeOwned>,
{
    let Value::Array(elements) = value else {
        return Err(SerializationError::Unreadable { message: "expected an array".to_owned() });
    };
    let _inside = enter_to_read()?;
    elements.into_iter().map(deserialize_from_json).collect()
}

/// Writes a set, for `#[serde(with = "stockade::serialization::set")]`.
///
/// # Errors
/// Fails like [`serialize_set`], or if the serializer fails.
pub fn serialize<'a, C, S>(set: &'a C, serializer: S) -> Result<S::Ok, S::Error>
where
    C: ?Sized,
    &'a C: IntoIterator<Item: Serialize>,
    S: Serializer,
{
    serialize_set(set).map_err(ser::Error::custom)?.serialize(serializer)
}

/// Reads a set, for `#[serde(with = "stockade::serialization::set")]`.
///
/// # Errors
/// Fails like [`deserialize_set`], or if the deserializer fails.
pub fn deserialize<'de, C, D>(deserializer: D) -> Result<C, D::Error>
where
    C: FromIterator<C::Item> + IntoIterator<Item: DeserializeOwned>,
    D: Deserializer<'de>,
{
    deserialize_set(Value::deserialize(deserializer)?).map_err(de::Error::custom)
}
