//! Functions for headers that several helpers share.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Returns true if a line of a list header has this token, in any case.
pub(crate) fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}

/// Adds a name to `Vary`, unless `Vary` has the name or `*`.
pub(crate) fn add_vary(headers: &mut HeaderMap, name: &'static str) {
    if !has_token(headers, &header::VARY, name) && !has_token(headers, &header::VARY, "*") {
        headers.append(header::VARY, HeaderValue::from_static(name));
    }
}
