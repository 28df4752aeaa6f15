//! Hot: a JSON writer with the same output as serde_json, but faster.
//!
//! - `to_json`: [`to_json`], and the thread-local buffer; `buffer`: the buffer;
//!   `list`: values one by one.
//! - `value`: one value; `compound`: arrays and objects.
//! - `key`: map keys; `embedded`: text that is already JSON.
//! - `string`: strings and their escapes, in blocks of bytes.
//! - `refuse`: the types that keys and embedded JSON reject.
//!
//! A call makes one allocation for the result. Rare parts, such as errors, come
//! from serde_json and are therefore identical.

mod buffer;
mod compound;
mod embedded;
mod key;
mod list;
mod refuse;
mod string;
mod to_json;
mod value;

pub use embedded::{NUMBER, RAW_VALUE};
pub use list::ListWriter;
pub use to_json::{to_json, to_json_string};
