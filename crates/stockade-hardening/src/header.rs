//! Headers made of text. Their values may be credentials.

use http::{HeaderName, HeaderValue};

use crate::fail::fail;
use crate::redact;

/// Makes a header. A value that is a credential is marked as sensitive.
///
/// # Panics
/// If the name or the value cannot be part of a header.
#[must_use]
#[track_caller]
pub fn header_of(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let Ok(header) = name.parse() else { fail(format_args!("{name:?} is no name of a header")) };
    match value.parse::<HeaderValue>() {
        Ok(mut value) => {
            value.set_sensitive(redact::hides(&header));
            (header, value)
        }
        // The value may be a secret.
        Err(_) => fail(format_args!("the value given for {name} cannot be that of a header")),
    }
}

/// Makes the value of `Authorization: Bearer …`.
///
/// # Panics
/// If the token cannot be part of a header.
#[must_use]
#[track_caller]
pub fn bearer_value(token: &str) -> HeaderValue {
    header_of("authorization", &format!("Bearer {token}")).1
}
