//! Headers created from text. Their values may be credentials.

use http::{HeaderName, HeaderValue};

use crate::fail::fail;
use crate::redact;

/// Creates a header. Credentials are marked as sensitive.
///
/// # Panics
/// Panics if the name or the value is not valid in a header.
#[must_use]
#[track_caller]
pub fn header_of(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let Ok(header) = name.parse() else { fail(format_args!("{name:?} is not a header name")) };
    match value.parse::<HeaderValue>() {
        Ok(mut value) => {
            value.set_sensitive(redact::hides(&header));
            (header, value)
        }
        // The value may be a secret.
        Err(_) => fail(format_args!("the value of the header {name} is invalid")),
    }
}

/// Returns the header value `Bearer …` for `Authorization`.
///
/// # Panics
/// Panics if the token is not a valid header value.
#[must_use]
#[track_caller]
pub fn bearer_value(token: &str) -> HeaderValue {
    header_of("authorization", &format!("Bearer {token}")).1
}
