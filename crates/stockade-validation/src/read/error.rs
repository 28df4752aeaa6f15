//! [`ReadError`]: the reason why no typed value could be read.

use std::error::Error;
use std::fmt;

use serde::de::IgnoredAny;
use stockade_errors::{ApiError, FieldError};

/// The reason why text or data could not be read as a typed value.
///
/// Converted to an [`ApiError`], it becomes the response to the client.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON. This includes text that is not UTF-8, is empty,
    /// continues after the value, is nested 128 levels deep or more, or
    /// contains a number outside the range of `f64`. The error contains line
    /// and column. 400.
    Syntax(serde_json::Error),
    /// The data violates the schema or does not fit the type. Never empty. 400.
    Invalid(Vec<FieldError>),
    /// A function of the schema failed or panicked. 500.
    Failed(ApiError),
    /// The text contains more than this number of values that must be stored
    /// regardless of their type. This error occurs only if the caller sets such
    /// a limit. 413.
    TooManyValues(usize),
}

impl ReadError {
    /// Creates the error for one value that does not fit.
    pub(super) fn misfit(error: FieldError) -> Self {
        Self::Invalid(vec![error])
    }
}

/// Returns the error of a text that contains more than `most` values or is not
/// JSON.
#[cold]
#[must_use]
pub fn too_many_values(text: &[u8], most: usize) -> ReadError {
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(IgnoredAny) => ReadError::TooManyValues(most),
        Err(error) => ReadError::Syntax(error),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "invalid JSON: {error}"),
            Self::Invalid(errors) => {
                f.write_str("validation failed")?;
                errors
                    .first()
                    .map_or(Ok(()), |error| write!(f, ": {:?}: {}", error.field, error.message))
            }
            Self::Failed(error) => error.fmt(f),
            Self::TooManyValues(most) => write!(f, "the text has more than {most} values"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Syntax(error) => Some(error),
            Self::Invalid(_) | Self::TooManyValues(_) => None,
            Self::Failed(error) => error.source(),
        }
    }
}

/// Converts to 400 `Invalid JSON body`, 400 `Validation failed` with the
/// errors, the error of a function, or 413 for too many values.
impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Syntax(error) => Self::new(400, "Invalid JSON body").with_source(error),
            ReadError::Invalid(errors) => Self::validation(errors),
            ReadError::Failed(error) => error,
            ReadError::TooManyValues(most) => {
                Self::new(413, format!("Request body has more than {most} values"))
            }
        }
    }
}

impl From<ApiError> for ReadError {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}
