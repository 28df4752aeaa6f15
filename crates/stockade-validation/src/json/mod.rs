//! Hot: JSON text for what only has to be right about text that is right.
//!
//! A [`Reader`] gives what `serde_json::Deserializer` gives, in fewer
//! instructions. It refuses the same texts, but has no words for it: whoever is
//! refused asks serde_json.
//!
//! - `reader`: [`Reader`], the deserializer; `access`: the contents of arrays
//!   and objects.
//! - `text`: strings, by blocks of bytes; `escape`: what stands behind `\`.
//! - `count`: how many values a text holds.
//! - `number`: numbers; the rare ones are left to serde_json.
//! - `refused`: [`Refused`], the error.

mod access;
mod count;
mod escape;
mod number;
mod reader;
mod refused;
mod text;

pub use count::has_more_values;

pub(crate) use reader::Reader;
pub(crate) use refused::Refused;

#[cfg(test)]
mod tests;
