//! Hot: a JSON reader that is fast for valid text.
//!
//! A [`Reader`] returns the same values as `serde_json::Deserializer` with
//! fewer instructions. It rejects the same texts but does not say why. To get a
//! message, read the text again with serde_json.
//!
//! - `reader`: [`Reader`], which reads one value after another.
//! - `raw`: values that are skipped and returned as text.
//! - `text`: strings, read in blocks of bytes; `escape`: their escapes.
//! - `count`: the number of values in a text.
//! - `number`: numbers; serde_json reads the rare forms.
//! - `refused`: [`Refused`], the error.
//!
//! The feature `duplicate` adds `repeated_name`, which finds duplicate member
//! names.
//!
//! The feature `write` adds:
//!
//! - `write`: `to_json`, a fast writer with the same output as serde_json.
//! - `date`: calendar dates and their text.
//! - `error`: `SerializationError`.
//!
//! This crate is internal to stockade and may change with each version. Use
//! serde_json in programs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod count;
#[cfg(feature = "write")]
pub mod date;
#[cfg(feature = "duplicate")]
mod duplicate;
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
#[cfg(feature = "duplicate")]
pub use duplicate::repeated_name;
#[cfg(feature = "write")]
pub use error::{MAX_DEPTH, SerializationError};
pub use number::{Number, keeps_digits, whole_text};
pub use raw::MAX_RAW_DEPTH;
pub use reader::{Reader, Scalar};
pub use refused::Refused;
#[cfg(feature = "write")]
pub use write::{ListWriter, NUMBER, RAW_VALUE, to_json, to_json_string};

/// Returns true for serde_json's internal names for arbitrary-precision numbers
/// (feature `arbitrary_precision`) and for unparsed text (`raw_value`). Any
/// crate may enable these features.
#[inline]
#[must_use]
pub fn is_private(name: &str) -> bool {
    name.starts_with("$serde_json::private::")
}
