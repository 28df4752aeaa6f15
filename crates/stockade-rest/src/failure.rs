//! The answers to the failures of a store.

use serde_json::json;
use stockade_errors::{ApiError, FieldError};

use crate::core::Core;
use crate::store::{StoreError, Version};

impl Core {
    /// Returns the answer to a failure; `has_condition` is true if the client named
    /// the version that it expects.
    pub(crate) fn failure(&self, error: StoreError, has_condition: bool) -> ApiError {
        match error {
            StoreError::Missing => ApiError::not_found(),
            StoreError::Changed if has_condition => precondition_failed(None),
            StoreError::Changed => {
                ApiError::conflict().with_message("The item has changed in the meantime")
            }
            StoreError::Taken { field } => self.taken(&field),
            StoreError::Invalid(errors) => {
                let errors = self.visible(errors);
                if errors.is_empty() {
                    ApiError::new(400, "The values are not allowed")
                } else {
                    ApiError::validation(errors)
                }
            }
            StoreError::Busy { retry_after, source } => {
                // A part of a second counts as one.
                let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
                let busy = ApiError::new(503, format!("the store is busy: {source}"));
                busy.with_header("retry-after", seconds.to_string()).with_source(source)
            }
            StoreError::Failed(source) => ApiError::internal(source),
        }
    }

    fn taken(&self, field: &str) -> ApiError {
        let conflict = ApiError::conflict().with_message("A value is taken");
        if field.is_empty() || self.is_hidden(field) {
            return conflict;
        }
        let error = FieldError::new(field, format!("{field} is taken"), "unique");
        conflict.with_details(json!({ "errors": [error] }))
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
