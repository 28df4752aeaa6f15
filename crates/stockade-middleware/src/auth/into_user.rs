//! [`IntoUser`]: the result of a function that authenticates a user.

use serde::Serialize;
use serde_json::Value;
use stockade_core::RouteDescription;
use stockade_core::description::{ResponseDoc, StatusDoc};
use stockade_core::reply::IntoError;
use stockade_core::reply::into_error_internals::answer_of;
use stockade_errors::ApiError;

use super::method::Failed;

/// The result of a function that authenticates a user: an `Option` of a type
/// that implements `Serialize`, a JSON value, or a `Result` of these with an
/// [`IntoError`] as its error.
///
/// `None`, null, false, 0 and an empty text mean that there is no user.
// Spec: Authentication › rule 3.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a user",
    label = "this function returns `{Self}`",
    note = "return an Option of a type that implements Serialize, a serde_json::Value, or a Result of them"
)]
pub trait IntoUser {
    /// Returns the user as JSON, if there is one.
    ///
    /// # Errors
    /// Returns the response to the error of the function, as
    /// [`IntoError::into_error_response`] makes it. A user that cannot be serialized is a 500.
    fn into_user(self) -> Result<Option<Value>, Failed>;

    /// Describes the responses to the errors of the function.
    #[doc(hidden)]
    fn describe(_doc: &mut RouteDescription) {}
}

impl IntoUser for Value {
    fn into_user(self) -> Result<Option<Value>, Failed> {
        let falsy = match &self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Number(number) => number.as_f64() == Some(0.0),
            Self::String(text) => text.is_empty(),
            Self::Array(_) | Self::Object(_) => false,
        };
        Ok((!falsy).then_some(self))
    }
}

impl<U: Serialize> IntoUser for Option<U> {
    fn into_user(self) -> Result<Option<Value>, Failed> {
        let Some(user) = self else { return Ok(None) };
        match serde_json::to_value(user) {
            Ok(user) => user.into_user(),
            Err(error) => Err(Err(ApiError::internal(error))),
        }
    }
}

impl<T: IntoUser, E: IntoError> IntoUser for Result<T, E> {
    fn into_user(self) -> Result<Option<Value>, Failed> {
        match self {
            Ok(user) => user.into_user(),
            Err(error) => Err(answer_of(error).map(Box::new)),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        let before = doc.facts().answers.len();
        E::describe(doc);
        // An error without a description may be any error.
        if doc.facts().answers.len() == before {
            let meaning = "An error from the function that finds the user";
            doc.responds(ResponseDoc::error(StatusDoc::Default).meaning(meaning));
        }
    }
}
