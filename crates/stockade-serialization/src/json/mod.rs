//! Hot: the bytes of a JSON answer, as serde_json writes them but faster.
//!
//! - `to_json`: [`to_json`], and the buffer that a thread keeps; `buffer`: how
//!   it is written.
//! - `value`: one value; `compound`: the items of an array or object.
//! - `key`: keys of maps; `embedded`: JSON that is text already.
//! - `string`: strings and their escapes, by blocks of bytes.
//!
//! A call makes one allocation, the result. What is rare, as errors are, is
//! asked of serde_json, so that it stays the same.

mod buffer;
mod compound;
mod embedded;
mod key;
mod string;
mod to_json;
mod value;

pub(crate) use embedded::{NUMBER, RAW_VALUE};
pub use to_json::to_json;
