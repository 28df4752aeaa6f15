//! The [`ErrorContext`] of a request.

use std::sync::Arc;

use super::ErrorContext;
use crate::languages::AcceptLanguage;
use crate::{ErrorHandler, Request};

impl ErrorContext {
    /// Returns the context of a request, for use after the request is gone.
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
            head: req.inner.kept_head.clone(),
            languages: route.and_then(|route| route.languages.clone()),
            accept_language: AcceptLanguage::of(
                req.headers(),
                route.and_then(|route| route.languages.as_ref()),
            ),
        }
    }

    /// Prepares the context for an error that occurs before the middleware
    /// runs. The error handler of the route handles it, or the router's handler
    /// if no route matched.
    #[must_use]
    #[doc(hidden)]
    pub fn before_middleware(mut self, req: &Request, router: Option<&ErrorHandler>) -> Self {
        self.handle_early(router);
        if self.head.is_none() && self.handler.as_ref().is_some_and(ErrorHandler::takes_head) {
            self.head = Some(Arc::new(req.copy_head()));
        }
        self
    }
}
