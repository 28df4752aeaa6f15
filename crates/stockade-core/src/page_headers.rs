//! `PageHeaders`: the headers of a route that pages of other origins may use.

use http::HeaderValue;

/// The headers of a route that pages of other origins may use, as values of the CORS
/// headers. The router makes them once, when it is built.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageHeaders {
    /// The request headers that a preflight allows, if they differ from the default.
    pub allowed: Option<HeaderValue>,
    /// The response headers that a script may read, if they differ from the default.
    pub exposed: Option<HeaderValue>,
    /// The response headers that a script may read, with the older headers of a rate limit.
    pub exposed_with_legacy: Option<HeaderValue>,
    /// The number of the list of response headers among all lists of the router; 0 for
    /// the default list.
    pub number: u16,
}
