//! Idempotency keys for requests that are generated from the map.

use stockade_routing::map::RouteInfo;

/// The name of the header.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Returns true if a header is `Idempotency-Key`.
pub(crate) fn is_key(header: &str) -> bool {
    header.eq_ignore_ascii_case(IDEMPOTENCY_KEY)
}

/// Returns true if a route rejects requests without a key.
pub(crate) fn needs_key(route: &RouteInfo) -> bool {
    route.headers.iter().any(|header| header.required && is_key(&header.name))
}

/// Returns the key of the request with this number, a string of a structured
/// field.
pub(crate) fn key_of(number: u32) -> String {
    format!("\"request-{number}\"")
}
