//! Hot: JSON text for what only has to be right about text that is right.
//!
//! A [`Reader`] finds the values that `serde_json::Deserializer` finds, in fewer
//! instructions. It refuses the same texts, but has no words for it: whoever is
//! refused asks serde_json.
//!
//! - `reader`: [`Reader`], the parts of a text.
//! - `text`: strings, by blocks of bytes; `escape`: what stands behind `\`.
//! - `count`: how many values a text holds.
//! - `number`: numbers; the rare ones are left to serde_json.
//! - `refused`: [`Refused`], the error.

mod count;
mod escape;
mod number;
mod reader;
mod refused;
mod text;

pub use count::has_more_values;

pub(crate) use number::{Number, keeps_digits, whole_text};
pub(crate) use reader::{Reader, Scalar};
pub(crate) use refused::Refused;

#[cfg(test)]
mod tests;
