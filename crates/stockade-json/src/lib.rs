//! JSON text: a fast writer, the text of dates, and the errors of serialization.
//!
//! Programs use it through `stockade::serialization`. The other crates of
//! stockade use it directly, so that HTTP and routing do not depend on the
//! helpers for dates, maps and sets.
//!
//! ```
//! use stockade::serialization::to_json;
//!
//! assert_eq!(to_json(&["a", "b"])?, br#"["a","b"]"#);
//! # Ok::<(), stockade::serde_json::Error>(())
//! ```
//!
//! Spec: Serialization helpers.

// Where things are:
// - `date`: calendar dates and the text of a moment.
// - `error`: `SerializationError`.
// - `write`: `to_json`, a fast writer of the same bytes as serde_json.

pub mod date;
mod error;
mod write;

pub use error::{MAX_DEPTH, SerializationError};
pub use write::{ListWriter, NUMBER, RAW_VALUE, to_json, to_json_string};
