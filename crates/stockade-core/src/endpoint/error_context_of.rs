//! The [`ErrorContext`] of a request.

use super::ErrorContext;
use crate::Request;

impl ErrorContext {
    /// Makes the context of a request, which the caller may then give away.
    #[doc(hidden)]
    #[must_use]
    pub fn of(req: &Request) -> Self {
        let route = req.inner.route.as_deref();
        Self {
            handler: route.and_then(|route| route.error_handler.clone()),
            settings: req.inner.settings,
            method: req.method().clone(),
            target: req.uri().path_and_query().cloned(),
            route: req.inner.route.clone(),
            id: req.shared_id(),
        }
    }
}
