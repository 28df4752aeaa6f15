//! Reads typed values from data without a schema: only the type decides.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ReadError;
use super::parsed::Parsed;
use super::slot::{Slot, nothing_read};
use super::type_error::TypeError;

/// Reads a typed value from data.
///
/// A struct is not read from an array. Values that the type skips are not
/// validated.
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{ReadError, read_value};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct User {
///     age: u8,
/// }
///
/// assert_eq!(read_value::<User>(&json!({ "age": 36 }))?.age, 36);
///
/// let error = read_value::<User>(&json!({ "age": "36" })).unwrap_err();
/// let ReadError::Invalid(errors) = error else { unreachable!() };
/// assert_eq!(errors[0].field, "age");
/// assert_eq!(errors[0].message, "Expected integer, got string");
/// assert_eq!(errors[0].rule, "type");
/// # Ok::<(), ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError::Invalid`] with one error of the rule `type` if the data does
/// not fit the type.
pub fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    let mut slot = None;
    read_into(Parsed::new(value), &mut slot)?;
    Ok(slot.ok_or_else(nothing_read)?)
}

/// Reads a typed value from validated data. Texts in it may still represent
/// numbers and booleans, depending on the type. `name` is the name of the
/// value.
///
/// # Errors
/// [`ReadError::Invalid`] with one error of the rule `type` if the data does
/// not fit the type.
pub fn read_texts_into(name: &str, data: &Value, target: &mut dyn Slot) -> Result<(), ReadError> {
    Parsed::with_texts(data).read_into(target).map_err(|error| {
        let error = if name.is_empty() { error } else { error.in_member(name) };
        ReadError::misfit(error.into_field_error())
    })
}

/// Reads a typed value; errors have messages.
pub(super) fn read_into(data: Parsed<'_>, target: &mut dyn Slot) -> Result<(), ReadError> {
    let read = data.read_into(target);
    read.map_err(|error: TypeError| ReadError::misfit(error.into_field_error()))
}

/// Returns serde_json's error for text that is not UTF-8.
#[cold]
pub(super) fn not_utf8(text: &[u8]) -> serde_json::Error {
    let error = serde_json::from_slice::<Value>(text).err();
    error.unwrap_or_else(|| serde::de::Error::custom("invalid UTF-8"))
}
