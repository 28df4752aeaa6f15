//! [`bug`]: the error for bugs in stockade itself.
//!
//! A default value would hide the bug: an empty 200 looks like a success.

use stockade_errors::ApiError;

/// Returns a 500 for a state that only a bug in stockade can cause.
///
/// The message begins with `this is a bug in stockade: `. The response logs it
/// at error level; the client does not receive it.
#[cold]
#[must_use]
pub(crate) fn bug(message: &str) -> ApiError {
    ApiError::new(500, format!("this is a bug in stockade: {message}"))
}
