//! Functions for headers that several helpers share.

use http::header;
use http::{HeaderMap, HeaderValue};
pub(crate) use stockade_core::headers::has_token;

/// Adds a name to `Vary`, unless `Vary` has the name or `*`.
pub(crate) fn add_vary(headers: &mut HeaderMap, name: &'static str) {
    if !has_token(headers, &header::VARY, name) && !has_token(headers, &header::VARY, "*") {
        headers.append(header::VARY, HeaderValue::from_static(name));
    }
}
