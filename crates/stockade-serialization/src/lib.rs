//! Dates, maps and sets as JSON, usable alone: no HTTP, no runtime.
//!
//! [`serialize_for_json`] makes JSON of any value with serde's `Serialize`.
//! Dates become text as JavaScript writes it, maps with any keys become
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
//! # The pairs
//!
//! | There | Back | For one field |
//! |---|---|---|
//! | [`serialize_date`] | [`deserialize_date`] | `#[serde(with = "stockade::serialization::date")]` |
//! | [`serialize_map`] | [`deserialize_map`] | `#[serde(with = "stockade::serialization::map")]` |
//! | [`serialize_set`] | [`deserialize_set`] | `#[serde(with = "stockade::serialization::set")]` |
//! | [`serialize_for_json`] | [`deserialize_from_json`] | |
//!
//! # What becomes what
//!
//! | Rust | JSON |
//! |---|---|
//! | [`Date`], `SystemTime` | `"2024-02-29T12:34:56.789Z"` |
//! | a key that is a text, a `char`, a date, a unit variant | that text |
//! | a key that is a number, a `bool`, `None`, a tuple, a struct, any other | its JSON text, such as `"7"` or `"[1,2]"` |
//! | an integer beyond 64 bits | a text of its digits |
//! | a float that is not finite | `null`, as `JSON.stringify` writes it |
//! | an `f32` | the shortest number that reads back as the same `f32` |
//! | bytes | an array of numbers |
//! | everything else | as serde_json has it |
//!
//! Two keys that become the same text are an error. So is nesting beyond
//! [`MAX_DEPTH`] levels, which data with a cycle has. (serde locks a `Mutex` in
//! a cycle twice, so that the program hangs.)
//!
//! # Dates of other crates
//!
//! With the features `jiff`, `chrono` and `time` of `stockade-serialization`,
//! which a program names as a dependency of its own for them, the types of these
//! crates that name a moment have [`ToDate`] and [`FromDate`]. Inside other data they
//! pass serde a text of their own, usually with another precision, which cannot
//! be told from any other text. So a field of such a type needs `#[serde(with =
//! "stockade::serialization::date")]`. A `SystemTime` before 1970 needs it too,
//! because serde refuses those.
//!
//! `SystemTime` is recognised by its serde name and the names of its fields,
//! `secs_since_epoch` and `nanos_since_epoch`. Data that serde buffers while
//! reading (`flatten`, `untagged`) is read as serde does it.
//!
//! Spec: Serialization helpers.

// Where things are:
// - `mod@date`, `map`, `set`: the pairs, and the functions for fields.
// - `write`, `read`: JSON of types with `Serialize` and `Deserialize`; `key`:
//   keys as text.
// - `nesting`: the levels of nesting.
// - `options`: `SerializationOptions`; `custom`: `CustomSerialization`;
//   `helper`: `Serialization` and `Deserialization`.
//
// The writer `to_json`, the text of dates and the error are in `stockade-json`.

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
