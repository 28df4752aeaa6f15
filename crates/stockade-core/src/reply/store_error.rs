//! `StoreError` as the error of a handler.

use stockade_errors::{ApiError, StoreError};

use super::Failure;
use crate::description::{Answer, AnswerBody, HeaderDoc};
use crate::{Response, RouteDoc};

impl Failure for StoreError {
    fn into_answer(self) -> Result<Response, ApiError> {
        Err(self.into())
    }

    fn describe(doc: &mut RouteDoc) {
        doc.may_answer(404, "There is no such item");
        doc.may_answer(409, "The item has changed or is referred to, or a value is taken");
        let mut invalid = Answer::error(doc.validation_status());
        invalid.body = AnswerBody::ValidationError;
        doc.answers(invalid.meaning("The store refuses a value"));
        doc.may_answer(400, "The store refuses a value");
        doc.answers(busy_store());
        doc.may_answer(500, "");
    }
}

/// Describes the response for a store that is busy.
#[must_use]
pub fn busy_store() -> Answer {
    let retry = HeaderDoc::new("Retry-After", "The seconds until a request may be repeated");
    Answer::error(503).meaning("The store is busy").header(retry)
}
