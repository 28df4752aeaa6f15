//! The `If-Match` header of requests that are generated from the map.

use stockade_routing::map::RouteInfo;

/// The name of the header.
pub(crate) const IF_MATCH: &str = "if-match";

/// The value that matches any version of an existing resource.
pub(crate) const ANY_VERSION: &str = "*";

/// Returns true if a header is `If-Match`.
pub(crate) fn is_if_match(header: &str) -> bool {
    header.eq_ignore_ascii_case(IF_MATCH)
}

/// Returns true if a route rejects requests without `If-Match`.
pub(crate) fn needs_version(route: &RouteInfo) -> bool {
    route.headers.iter().any(|header| header.required && is_if_match(&header.name))
}
