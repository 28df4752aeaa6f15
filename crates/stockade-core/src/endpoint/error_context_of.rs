//! The [`ErrorContext`] of a request.

use super::ErrorContext;
use crate::Request;
use crate::route_context::RouteContext;

impl ErrorContext {
    /// Takes note of a request before it is handed on.
    #[doc(hidden)]
    pub fn of(req: &Request) -> Self {
        let route = req.inner.route.as_deref();
        Self {
            handler: route.and_then(RouteContext::error_handler).cloned(),
            settings: req.inner.settings,
            method: req.method().clone(),
            target: req.uri().path_and_query().cloned(),
            route: req.inner.route.clone(),
            id: req.shared_id(),
        }
    }
}
