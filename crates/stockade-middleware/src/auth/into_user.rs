//! [`IntoUser`]: the result of a function that finds a user.

use std::any::Any;
use std::fmt::Display;

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use stockade_core::__internal::escaped;
use stockade_errors::{ApiError, BoxError};

/// The result of a function that finds a user: an `Option` of a serialisable
/// value, a JSON value, or a `Result` of these. An error, null, false, 0 and
/// empty text are no user.
///
/// Spec: Authentication › rule 3.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no user",
    label = "this is what the function returns",
    note = "return an Option of a type that implements Serialize, a serde_json::Value, or a Result of them"
)]
pub trait IntoUser {
    /// True if the function may fail.
    #[doc(hidden)]
    const MAY_FAIL: bool = false;

    /// Returns the user as JSON, if there is one.
    fn into_user(self) -> Option<Value>;

    /// Returns the user as [`into_user`](Self::into_user) does, or the error of
    /// the function, which [`Lookup`] answers.
    ///
    /// # Errors
    /// Fails with the error of the function: an [`ApiError`] as it is, also one
    /// in a [`BoxError`], a `StatusCode` from 400 on as its error, and any other as
    /// a 500, whose text is withheld.
    fn try_into_user(self) -> Result<Option<Value>, ApiError>
    where
        Self: Sized,
    {
        Ok(self.into_user())
    }
}

impl IntoUser for Value {
    fn into_user(self) -> Option<Value> {
        let falsy = match &self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Number(number) => number.as_f64() == Some(0.0),
            Self::String(text) => text.is_empty(),
            Self::Array(_) | Self::Object(_) => false,
        };
        (!falsy).then_some(self)
    }
}

impl<U: Serialize> IntoUser for Option<U> {
    fn into_user(self) -> Option<Value> {
        match serde_json::to_value(self?) {
            Ok(user) => user.into_user(),
            Err(error) => {
                log::error!(target: "stockade::auth", "the user cannot be serialised: {error}");
                None
            }
        }
    }
}

impl<T: IntoUser, E: Display + 'static> IntoUser for Result<T, E> {
    const MAY_FAIL: bool = true;

    fn into_user(self) -> Option<Value> {
        match self {
            Ok(user) => user.into_user(),
            Err(error) => {
                let error = escaped(error);
                log::warn!(target: "stockade::auth", "the function that finds the user failed: {error}");
                None
            }
        }
    }

    fn try_into_user(self) -> Result<Option<Value>, ApiError> {
        match self {
            Ok(user) => user.try_into_user(),
            Err(error) => Err(answered(&error)),
        }
    }
}

/// Returns the answer to an error of a function that may return any type of it.
fn answered<E: Display + 'static>(error: &E) -> ApiError {
    // The type of the error decides, and the compiler knows it here.
    let any: &dyn Any = error;
    let boxed = any.downcast_ref::<BoxError>().and_then(|error| error.downcast_ref());
    if let Some(error) = any.downcast_ref::<ApiError>().or(boxed) {
        return error.clone();
    }
    match any.downcast_ref::<StatusCode>() {
        Some(status) if status.as_u16() >= 400 => ApiError::new(status.as_u16(), ""),
        _ => ApiError::new(500, format!("the function that finds the user failed: {error}")),
    }
}
