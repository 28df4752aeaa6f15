//! Hot: writing of JSON, byte for byte as serde_json writes it, but faster.
//!
//! - `to_json`: [`to_json`], and the buffer that a thread keeps; `buffer`: the
//!   buffer; `list`: values one after the other.
//! - `value`: one value; `compound`: arrays and objects.
//! - `key`: keys of maps; `embedded`: JSON that is text already.
//! - `string`: strings and their escapes, by blocks of bytes.
//! - `refuse`: the types that keys and embedded JSON refuse.
//!
//! A call makes one allocation, the result. The rare parts, such as errors,
//! come from serde_json, so that they are the same.

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
