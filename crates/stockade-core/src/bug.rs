//! [`bug`]: the error where stockade itself is wrong.
//!
//! A default value in its place would hide the mistake: an empty 200 looks like
//! a success.

use stockade_errors::ApiError;

use crate::endpoint::{TARGET, respond_with, text};
use crate::{Response, Settings};

/// Returns a 500 for a state that cannot be while stockade is right.
///
/// The message, which begins with `this is a bug in stockade: `, is logged at
/// error level where the error is answered. A client is not told.
#[cold]
#[must_use]
pub(crate) fn bug(message: &str) -> ApiError {
    ApiError::new(500, format!("this is a bug in stockade: {message}"))
}

/// Logs a mistake of stockade and returns its response, where nothing of the request is
/// known any more.
#[cold]
#[must_use]
pub fn answer_bug(message: &str, settings: Settings) -> Response {
    let error = bug(message);
    log::error!(target: TARGET, "{error}");
    let body = text(&error, settings);
    respond_with(settings, error, body.into())
}
