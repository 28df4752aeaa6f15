//! [`Target`]: a type that is to be read, for code that is compiled once.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use super::misfit::Misfit;
use super::reader::TypedReader;

/// A place for a value that is read.
pub trait Target {
    /// Reads the value.
    ///
    /// # Errors
    /// When it does not fit its type.
    fn read(&mut self, reader: TypedReader<'_, '_>) -> Result<(), Misfit>;
}

/// The place for a value of one type.
#[derive(Debug)]
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// Makes a target without a value.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns the value that was read.
    ///
    /// # Errors
    /// 500 where nothing was read.
    #[inline]
    pub fn take(self) -> Result<T, ApiError> {
        match self.0 {
            Some(value) => Ok(value),
            None => Err(nothing_read()),
        }
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: DeserializeOwned> Target for Slot<T> {
    fn read(&mut self, reader: TypedReader<'_, '_>) -> Result<(), Misfit> {
        match T::deserialize(reader) {
            Ok(value) => {
                self.0 = Some(value);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

#[cold]
fn nothing_read() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: a value was not read")
}
