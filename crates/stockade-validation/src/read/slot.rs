//! [`Slot`]: a type-erased target for a value, for code that is compiled only
//! once.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use super::reader::TypedReader;
use super::type_error::TypeError;

/// A target for a value that is read.
pub trait Slot {
    /// Reads the value.
    ///
    /// # Errors
    /// Fails if the value does not fit its type.
    fn read(&mut self, reader: TypedReader<'_, '_>) -> Result<(), TypeError>;
}

/// A target for a value of one type. It is `Option` itself, because the
/// functions of a custom type would be compiled for each type that a program
/// reads.
impl<T: DeserializeOwned> Slot for Option<T> {
    fn read(&mut self, reader: TypedReader<'_, '_>) -> Result<(), TypeError> {
        match T::deserialize(reader) {
            Ok(value) => {
                *self = Some(value);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the error of an empty target.
#[cold]
#[must_use]
pub fn nothing_read() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: a value was not read")
}
