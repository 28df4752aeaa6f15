//! Descriptions that several stages share.

use http::Method;
use stockade_core::RouteDescription;

/// Returns true for the method of a route that accepts every method.
#[must_use]
pub fn is_any(method: &Method) -> bool {
    method.as_str() == "ANY"
}

/// Describes middleware without effects that a client can see.
pub fn unseen(_doc: &mut RouteDescription) {}
