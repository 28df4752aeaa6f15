//! [`StoreError`]: the failure of a store.

use std::fmt;
use std::time::Duration;

use stockade_errors::{BoxError, FieldError};

/// The failure of a store. Nothing was written.
///
/// | | status |
/// |---|---|
/// | [`Missing`](Self::Missing) | 404 |
/// | [`Changed`](Self::Changed) | 412, and 409 where the client expected no version |
/// | [`Taken`](Self::Taken) | 409, with the field unless it is hidden |
/// | [`Invalid`](Self::Invalid) | 400, with the fields that are not hidden |
/// | [`Busy`](Self::Busy) | 503 with `Retry-After`; the source is logged |
/// | [`Failed`](Self::Failed) | 500; the source is logged |
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such item in the scope.
    Missing,
    /// The item has another version than was expected.
    Changed,
    /// Another item has the value of a unique field.
    Taken {
        /// The name of the field; empty if it is not known, or if there are several.
        field: String,
    },
    /// The engine refuses values that the schema allows.
    Invalid(Vec<FieldError>),
    /// The engine is down, or has too much to do.
    Busy {
        /// The time after which a client may try again.
        retry_after: Duration,
        /// The reason, for the log.
        source: BoxError,
    },
    /// The engine failed for another reason.
    Failed(BoxError),
}

impl StoreError {
    /// Makes the failure of a unique field.
    #[must_use]
    pub fn taken(field: impl Into<String>) -> Self {
        Self::Taken { field: field.into() }
    }

    /// Makes the failure of an engine that is down or has too much to do.
    #[must_use]
    pub fn busy(retry_after: Duration, source: impl Into<BoxError>) -> Self {
        Self::Busy { retry_after, source: source.into() }
    }

    /// Makes the failure of an engine.
    #[must_use]
    pub fn failed(source: impl Into<BoxError>) -> Self {
        Self::Failed(source.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such item"),
            Self::Changed => f.write_str("the item has another version"),
            Self::Taken { field } if field.is_empty() => f.write_str("a unique value is taken"),
            Self::Taken { field } => write!(f, "the value of {field} is taken"),
            Self::Invalid(errors) => {
                let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
                write!(f, "the store refuses values: {}", fields.join(", "))
            }
            Self::Busy { .. } => f.write_str("the store is busy"),
            Self::Failed(_) => f.write_str("the store failed"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Busy { source, .. } | Self::Failed(source) => Some(&**source),
            _ => None,
        }
    }
}
