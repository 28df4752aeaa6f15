//! Functions for headers that several stages share.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Returns the value of a header if there is exactly one.
pub fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
