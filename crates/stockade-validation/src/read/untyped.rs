//! Typed values from data without a schema: the type alone decides.

use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_errors::FieldError;

use super::ReadError;
use super::asked::is_named;
use super::misfit::{field_error, named_from_array, of_error};

/// Reads a typed value from data.
///
/// A struct is not read from an array. What the type skips is not judged.
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
/// [`ReadError::Invalid`] with one error of the rule `type` for data that does
/// not fit.
pub fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    if value.is_array() && is_named::<T>() {
        return Err(ReadError::misfit(named_from_array()));
    }
    T::deserialize(value).map_err(|first| {
        let error = serde_path_to_error::deserialize::<_, T>(value).err();
        ReadError::misfit(
            error.map_or_else(|| field_error("", &first.to_string()), |error| of_error(&error)),
        )
    })
}

/// Says which field does not fit: the text is read a second time, now with an
/// eye on the path, which would slow down all that is right.
#[cold]
pub(super) fn misfit<T: DeserializeOwned>(text: &str, first: &serde_json::Error) -> FieldError {
    let mut reader = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => field_error("", &first.to_string()),
        Err(error) => of_error(&error),
    }
}

/// The error of serde_json for text that is not UTF-8.
#[cold]
pub(super) fn not_utf8(text: &[u8]) -> serde_json::Error {
    let error = serde_json::from_slice::<Value>(text).err();
    error.unwrap_or_else(|| serde::de::Error::custom("invalid UTF-8"))
}
