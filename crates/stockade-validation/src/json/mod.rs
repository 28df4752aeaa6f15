//! Hot: a reader of JSON text that is fast for valid text.
//!
//! A [`Reader`] finds the same values as `serde_json::Deserializer`, in fewer
//! instructions. It refuses the same texts, but gives no reason: for a message
//! the caller lets serde_json read the text again.
//!
//! - `reader`: [`Reader`], the parts of a text.
//! - `text`: strings, by blocks of bytes; `escape`: the escapes in them.
//! - `count`: the number of values of a text.
//! - `number`: numbers; the rare ones are left to serde_json.
//! - `refused`: [`Refused`], the error.

mod count;
mod escape;
mod number;
mod reader;
mod refused;
mod text;

pub use count::has_more_values;
pub use text::plain_end;

pub(crate) use number::{Number, keeps_digits, whole_text};
pub(crate) use reader::{Reader, Scalar};
pub(crate) use refused::Refused;

#[cfg(test)]
mod tests;
