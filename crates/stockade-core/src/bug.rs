//! [`bug`]: the error where stockade itself is wrong.
//!
//! A default value in its place would hide the mistake: an empty 200 looks like
//! a success.

use stockade_errors::ApiError;

/// Returns a 500 for a state that cannot be while stockade is right.
///
/// The message, which begins with `this is a bug in stockade: `, is logged at
/// error level where the error is answered. A client is not told.
#[cold]
#[must_use]
pub(crate) fn bug(message: &str) -> ApiError {
    ApiError::new(500, format!("this is a bug in stockade: {message}"))
}
