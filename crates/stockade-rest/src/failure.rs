//! The answers to the failures of a store.

use stockade_errors::{ApiError, FieldError, StoreError};

use crate::core::Core;
use crate::store::Version;

impl Core {
    /// Returns the answer to a failure; `has_condition` is true if the client named
    /// the version that it expects.
    pub(crate) fn failure(&self, error: StoreError, has_condition: bool) -> ApiError {
        match error {
            StoreError::Changed if has_condition => precondition_failed(None),
            StoreError::Taken { field } if self.is_hidden(&field) => StoreError::taken("").into(),
            StoreError::Invalid(errors) => StoreError::Invalid(self.visible(errors)).into(),
            error => error.into(),
        }
    }
}

/// Makes a 412 that names the present version.
pub(crate) fn precondition_failed(version: Option<Version>) -> ApiError {
    let failed = ApiError::new(412, "Precondition Failed");
    match version {
        Some(version) => failed.with_header("etag", format!("\"{version}\"")),
        None => failed,
    }
}

/// Makes a 400 of one field.
pub(crate) fn invalid(
    field: impl Into<String>,
    message: impl Into<String>,
    rule: &'static str,
) -> ApiError {
    ApiError::validation([FieldError::new(field, message.into(), rule)])
}
