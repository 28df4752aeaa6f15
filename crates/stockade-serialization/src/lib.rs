//! Dates, maps and sets as JSON. This crate needs neither HTTP nor a runtime.
//!
//! [`serialize_for_json`] converts any value that implements `Serialize` to
//! JSON. Dates become strings in JavaScript's format, maps with any keys become
//! objects, and sets become arrays.
//!
//! ```
//! use std::collections::{BTreeMap, BTreeSet};
//! use std::time::{Duration, SystemTime};
//!
//! use stockade::serde_json::json;
//! use stockade::serialization::serialize_for_json;
//!
//! let leap_day = SystemTime::UNIX_EPOCH + Duration::from_millis(1_709_211_296_789);
//! let seen = BTreeMap::from([((1, 2), BTreeSet::from([leap_day]))]);
//!
//! let value = serialize_for_json(&seen)?;
//! assert_eq!(value, json!({ "[1,2]": ["2024-02-29T12:54:56.789Z"] }));
//! # Ok::<(), stockade::serialization::SerializationError>(())
//! ```
//!
//! # Functions
//!
//! | Write | Read | For one field |
//! |---|---|---|
//! | [`serialize_date`] | [`deserialize_date`] | `#[serde(with = "stockade::serialization::date")]` |
//! | [`serialize_map`] | [`deserialize_map`] | `#[serde(with = "stockade::serialization::map")]` |
//! | [`serialize_set`] | [`deserialize_set`] | `#[serde(with = "stockade::serialization::set")]` |
//! | [`serialize_for_json`] | [`deserialize_from_json`] | |
//!
//! # Conversions
//!
//! | Rust | JSON |
//! |---|---|
//! | [`Date`], `SystemTime` | `"2024-02-29T12:34:56.789Z"` |
//! | string, `char`, date or unit variant as a key | that text |
//! | any other key, such as a number, a `bool`, `None`, a tuple or a struct | its JSON text, such as `"7"` or `"[1,2]"` |
//! | integer beyond 64 bits | string of its digits |
//! | float that is not finite | `null`, like `JSON.stringify` |
//! | `f32` | the shortest number that reads back as the same `f32` |
//! | bytes | array of numbers |
//! | everything else | same as serde_json |
//!
//! Two keys that become the same text are an error. Nesting beyond
//! [`MAX_DEPTH`] levels is also an error, which detects cyclic data. (A `Mutex`
//! in a cycle hangs the program, because serde locks it again.)
//!
//! # Dates from other crates
//!
//! Add `stockade-serialization` as a dependency and enable its features `jiff`,
//! `chrono` or `time`. The types of these crates that represent a moment then
//! implement [`ToDate`] and [`FromDate`].
//!
//! Inside other data, these types serialize as their own text, usually with
//! another precision. This text looks like any other string, so it is not
//! converted. A field with such a type therefore needs `#[serde(with =
//! "stockade::serialization::date")]`. A `SystemTime` before 1970 needs it too,
//! because serde rejects such values.
//!
//! `SystemTime` is recognized by its serde name and its field names,
//! `secs_since_epoch` and `nanos_since_epoch`. Data that serde buffers while
//! reading (`flatten`, `untagged`) is read by the rules of serde.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Serialization helpers.

// Modules:
// - `mod@date`, `map`, `set`: the conversion functions, also for fields.
// - `write`, `read`: JSON for types with `Serialize` and `Deserialize`; `key`:
//   map keys as text.
// - `nesting`: nesting levels.
// - `options`: `SerializationOptions`; `custom`: `CustomSerialization`;
//   `helper`: `Serialization` and `Deserialization`.
//
// `stockade-json` contains the writer `to_json`, the date format and the error.

#[cfg(feature = "chrono")]
mod chrono;
mod custom;
pub mod date;
mod helper;
#[cfg(feature = "jiff")]
mod jiff;
mod key;
pub mod map;
mod nesting;
mod options;
mod read;
pub mod set;
#[cfg(feature = "time")]
mod time;
mod write;

pub use custom::CustomSerialization;
pub use date::{Date, FromDate, ToDate, deserialize_date, serialize_date};
pub use helper::{Deserialization, Serialization};
pub use map::{deserialize_map, serialize_map};
pub use options::SerializationOptions;
pub use read::deserialize_from_json;
pub use set::{deserialize_set, serialize_set};
#[doc(inline)]
pub use stockade_json::{MAX_DEPTH, SerializationError, to_json, to_json_string};
pub use write::serialize_for_json;
