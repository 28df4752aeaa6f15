//! Maps: [`serialize_map`], [`deserialize_map`], and the functions for
//! `#[serde(with = "stockade::serialization::map")]`.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Board {
//!     #[serde(with = "stockade::serialization::map")]
//!     stones: BTreeMap<(u8, u8), char>,
//! }
//!
//! let text = r#"{"stones":{"[3,4]":"b","[4,4]":"w"}}"#;
//! let board: Board = stockade::serde_json::from_str(text)?;
//! assert_eq!(board.stones[&(4, 4)], 'w');
//! assert_eq!(stockade::serde_json::to_string(&board)?, text);
//! # Ok::<(), stockade::serde_json::Error>(())
//! ```
// Spec: Serialization helpers.

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{self, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::nesting::Levels;
use crate::read::{enter_to_read, read_key};
use crate::write::insert;
use crate::{SerializationError, deserialize_from_json, key, serialize_for_json};

/// Converts a map to an object, in the order of the map.
///
/// Keys become text. Strings, dates, `char`s and unit variants are used as they
/// are. Any other key becomes its JSON text, such as `7` or `[1,2]`. Values are
/// written like in [`serialize_for_json`].
///
/// ```
/// use std::collections::BTreeMap;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::serialize_map;
///
/// let names = BTreeMap::from([(1, "one"), (2, "two")]);
/// assert_eq!(serialize_map(&names)?, json!({ "1": "one", "2": "two" }));
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Fails like [`serialize_for_json`], and also if two keys become the same
/// text.
// Spec: Serialization helpers.
pub fn serialize_map<'a, M, K, V>(map: &'a M) -> Result<Value, SerializationError>
where
    M: ?Sized,
    &'a M: IntoIterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    let _inside = Levels::enter(1)?;
    let mut entries = Map::new();
    for (key, value) in map {
        let key = key::text(serialize_for_json(&key)?);
        insert(&mut entries, key, serialize_for_json(&value)?)?;
    }
    Ok(entries.into())
}

/// Converts an object to a map.
///
/// `M` is any collection of pairs, such as `HashMap`, `BTreeMap` or `Vec`,
/// which preserves the order. Keys are read from the text that
/// [`serialize_map`] writes. Integers must have the same form (`7`, not `07` or
/// `+7`), so different keys of an object stay different.
///
/// ```
/// use std::collections::HashMap;
///
/// use stockade::serde_json::json;
/// use stockade::serialization::deserialize_map;
///
/// let names: HashMap<u8, String> = deserialize_map(json!({ "1": "one", "2": "two" }))?;
/// assert_eq!(names[&2], "two");
/// assert!(deserialize_map::<HashMap<u8, String>, _, _>(json!({ "x": "one" })).is_err());
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Returns [`Unreadable`](SerializationError::Unreadable), a 400, if the value
/// is not an object, or if a key or a value does not match.
// Spec: Serialization helpers.
pub fn deserialize_map<M, K, V>(value: Value) -> Result<M, SerializationError>
where
    M: FromIterator<(K, V)> + IntoIterator<Item = (K, V)>,
    K: DeserializeOwned,
    V: DeserializeOwned,
{
    let Value::Object(entries) = value else {
        return Err(SerializationError::Unreadable { message: "expected an object".to_owned() });
    };
    let _inside = enter_to_read()?;
    let entry = |(key, value)| Ok((read_key(key)?, deserialize_from_json(value)?));
    entries.into_iter().map(entry).collect()
}

/// Writes a map, for `#[serde(with = "stockade::serialization::map")]`.
///
/// # Errors
/// Fails like [`serialize_map`], or if the serializer fails.
pub fn serialize<'a, M, K, V, S>(map: &'a M, serializer: S) -> Result<S::Ok, S::Error>
where
    M: ?Sized,
    &'a M: IntoIterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
    S: Serializer,
{
    serialize_map(map).map_err(ser::Error::custom)?.serialize(serializer)
}

/// Reads a map, for `#[serde(with = "stockade::serialization::map")]`.
///
/// # Errors
/// Fails like [`deserialize_map`], or if the deserializer fails.
pub fn deserialize<'de, M, K, V, D>(deserializer: D) -> Result<M, D::Error>
where
    M: FromIterator<(K, V)> + IntoIterator<Item = (K, V)>,
    K: DeserializeOwned,
    V: DeserializeOwned,
    D: Deserializer<'de>,
{
    deserialize_map(Value::deserialize(deserializer)?).map_err(de::Error::custom)
}
