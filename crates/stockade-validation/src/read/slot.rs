//! [`Slot`]: a type that is to be read, for code that is compiled once.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use super::reader::TypedReader;
use super::type_error::TypeError;

/// A place for a value that is read.
pub trait Slot {
    /// Reads the value.
    ///
    /// # Errors
    /// When it does not fit its type.
    fn read(&mut self, reader: TypedReader<'_, '_>) -> Result<(), TypeError>;
}

/// The place for a value of one type. `Option` itself, because the functions of a type of
/// our own would be compiled for each type that a program reads.
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

/// Returns the error of a target that nothing was read into.
#[cold]
#[must_use]
pub fn nothing_read() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: a value was not read")
}
