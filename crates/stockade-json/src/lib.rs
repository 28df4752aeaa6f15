//! Hot: a reader of JSON text that is fast for valid text.
//!
//! A [`Reader`] finds the same values as `serde_json::Deserializer`, with fewer
//! instructions. It rejects the same text, but gives no reason: a caller that needs a
//! message lets serde_json read the text again.
//!
//! - `reader`: [`Reader`], which reads one value after the other.
//! - `raw`: values that are found, but not read.
//! - `text`: strings, read in blocks of bytes; `escape`: the escapes in them.
//! - `count`: the number of values in a text.
//! - `number`: numbers; serde_json reads the rare ones.
//! - `refused`: [`Refused`], the error.
//!
//! With the feature `write`:
//!
//! - `write`: `to_json`, a fast writer of the same bytes as serde_json.
//! - `date`: calendar dates and the text of a moment.
//! - `error`: `SerializationError`.
//!
//! The crates of stockade share it. Programs use serde_json: this crate may change with
//! each version.

mod count;
#[cfg(feature = "write")]
pub mod date;
#[cfg(feature = "write")]
mod error;
mod escape;
mod number;
mod raw;
mod reader;
mod refused;
mod text;
#[cfg(feature = "write")]
mod write;

pub use count::has_more_values;
#[cfg(feature = "write")]
pub use error::{MAX_DEPTH, SerializationError};
pub use number::{Number, keeps_digits, whole_text};
pub use raw::MAX_RAW_DEPTH;
pub use reader::{Reader, Scalar};
pub use refused::Refused;
#[cfg(feature = "write")]
pub use write::{ListWriter, NUMBER, RAW_VALUE, to_json, to_json_string};

/// Returns true for the names that serde_json gives to its own values: numbers with all
/// their digits (its feature `arbitrary_precision`) and unparsed text (`raw_value`). Any
/// crate may enable these features.
#[inline]
#[must_use]
pub fn is_private(name: &str) -> bool {
    name.starts_with("$serde_json::private::")
}
