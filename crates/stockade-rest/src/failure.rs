//! The responses to store failures.

use stockade_errors::{ApiError, ErrorText, FieldError, StoreError};

use crate::core::Core;
use crate::store::Version;

impl Core {
    /// Returns the response to a failure. `has_condition` is true if the client
    /// sent the expected version.
    pub(crate) fn failure(&self, error: StoreError, has_condition: bool) -> ApiError {
        match error {
            StoreError::Changed if has_condition => precondition_failed(None),
            StoreError::Taken { field } if self.is_hidden(&field) => StoreError::taken("").into(),
            StoreError::Invalid(errors) => StoreError::Invalid(self.visible(errors)).into(),
            error => error.into(),
        }
    }
}

/// Creates a 412 with the current version.
pub(crate) fn precondition_failed(version: Option<Version>) -> ApiError {
    let failed = ApiError::new(412, "Precondition Failed");
    match version {
        Some(version) => failed.with_header("etag", format!("\"{version}\"")),
        None => failed,
    }
}

/// Creates a 400 for one field.
pub(crate) fn invalid(field: impl Into<String>, text: ErrorText, rule: &'static str) -> ApiError {
    ApiError::validation([FieldError::of_text(field, text, rule)])
}
