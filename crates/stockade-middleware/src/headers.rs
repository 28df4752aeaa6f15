//! Functions for headers that several helpers share.

#[cfg(feature = "compression")]
use http::header;
use http::{HeaderMap, HeaderName, HeaderValue};
#[cfg(feature = "compression")]
pub(crate) use stockade_core::__internal::has_token;

/// Returns the value of a header, if there is exactly one.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Adds a name to `Vary`, unless `Vary` has the name or `*`.
#[cfg(feature = "compression")]
pub(crate) fn add_vary(headers: &mut HeaderMap, name: &'static str) {
    if !has_token(headers, &header::VARY, name) && !has_token(headers, &header::VARY, "*") {
        headers.append(header::VARY, HeaderValue::from_static(name));
    }
}
