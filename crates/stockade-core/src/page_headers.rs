//! `PageHeaders`: the headers of a route that pages of other origins may use.

use http::HeaderValue;

/// The headers of a route that pages of other origins may use, as values of
/// CORS headers. The router computes them once at build time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageHeaders {
    /// The request headers that a preflight allows, if they differ from the default.
    pub allowed: Option<HeaderValue>,
    /// The response headers that a script may read, if they differ from the default.
    pub exposed: Option<HeaderValue>,
    /// The response headers that a script may read, including the legacy
    /// rate-limit headers.
    pub exposed_with_legacy: Option<HeaderValue>,
    /// The number of the response header list among all lists of the router.
    /// The default list is 0.
    pub number: u16,
}
