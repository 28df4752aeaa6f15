//! JSON that is text already: `RawValue`, and the `Number` of the feature
//! `arbitrary_precision`.
//!
//! Both are structs with one field, which has the same name as the struct.

use serde::ser::{Serialize, SerializeStruct as _, Serializer as _};
use serde_json::Error;

use crate::json::buffer::Buffer;

pub(crate) const NUMBER: &str = "$serde_json::private::Number";
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Writes the field of such a struct as serde_json does, with its errors.
///
/// serde_json knows `Number` only with its feature, so both are written as a
/// `RawValue`.
#[cold]
pub(crate) fn write<T: Serialize + ?Sized>(
    out: &mut Buffer,
    name: &'static str,
    field: &'static str,
    value: &T,
) -> Result<(), Error> {
    let field = if field == name { RAW_VALUE } else { field };
    let mut writer = serde_json::Serializer::new(out);
    writer.serialize_struct(RAW_VALUE, 1)?.serialize_field(field, value)
}
