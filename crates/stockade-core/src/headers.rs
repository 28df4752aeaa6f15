//! Headers with several lines or a list of items.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Returns the items of a list header from all of its lines.
pub fn list_items<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'h str> + use<'h> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Returns true if a list header contains this token, ignoring case.
#[must_use]
pub fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    list_items(headers, name).any(|item| item.eq_ignore_ascii_case(token))
}

/// Returns the `Content-Type`, if there is exactly one.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    match (values.next(), values.next()) {
        // A header that is not valid text counts as missing.
        (Some(value), None) => value.to_str().ok(),
        // Two types are ambiguous.
        _ => None,
    }
}

/// Returns true if the body does not have a coding, or only `identity`.
#[must_use]
pub fn is_unencoded(headers: &HeaderMap) -> bool {
    let is_identity = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get_all(header::CONTENT_ENCODING).iter().all(is_identity)
}

/// Adds a name to `Vary`, unless `Vary` already contains the name or `*`.
pub fn add_vary(headers: &mut HeaderMap, name: &'static str) {
    if !has_token(headers, &header::VARY, name) && !has_token(headers, &header::VARY, "*") {
        headers.append(header::VARY, HeaderValue::from_static(name));
    }
}

/// Returns the value of a header that occurs exactly once.
#[inline]
#[must_use]
pub fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
