//! Descriptions that several stages share.

use http::Method;
use stockade_core::RouteDescription;

/// Returns true for the method of a route that accepts every method.
#[must_use]
pub fn is_any(method: &Method) -> bool {
    method.as_str() == "ANY"
}

/// Describes middleware that changes nothing that a client sees.
pub fn unseen(_doc: &mut RouteDescription) {}
