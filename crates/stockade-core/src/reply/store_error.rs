//! Conversion of `StoreError` to a handler's error.

use stockade_errors::{ApiError, StoreError};

use super::IntoError;
use crate::description::{BodyDoc, HeaderDoc, ResponseDoc};
use crate::{Response, RouteDescription};

impl IntoError for StoreError {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(self.into())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.may_respond(404, "The item does not exist");
        doc.may_respond(
            409,
            "The item has changed, other items refer to it, or a value is already in use",
        );
        let mut invalid = ResponseDoc::error(doc.validation_status());
        invalid.body = BodyDoc::ValidationError;
        doc.responds(invalid.meaning("The store rejects a value"));
        doc.may_respond(400, "The store rejects a value");
        doc.responds(busy_store());
        doc.may_respond(500, "");
    }
}

/// Describes the response of a busy store.
#[must_use]
pub fn busy_store() -> ResponseDoc {
    let retry =
        HeaderDoc::new("Retry-After", "The number of seconds until the request can be repeated");
    ResponseDoc::error(503).meaning("The store is busy").header(retry)
}
