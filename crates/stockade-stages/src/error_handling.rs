//! [`create_error_handler`] and [`with_error_handling`]: answers to errors that
//! an application chooses.
//!
//! Spec: Errors › Response rules, rule 4.

use stockade_core::{
    ErrorHandler, ErrorHandlerOptions, IntoErrorHandler, IntoMiddleware as _, Middleware,
};

/// Makes an error handler: middleware for the routes that it covers, and for
/// other hosts [`ErrorHandler::answer`].
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::{ErrorHandlerOptions, create_error_handler};
/// use stockade::serde_json::json;
///
/// let handler = create_error_handler(
///     ErrorHandlerOptions::new()
///         .expose_errors(false)
///         .transform(|error, body| json!({ "code": error.status(), "message": body["error"] })),
/// );
/// assert_eq!(Middleware::new(handler).name(), "with_error_handling");
/// ```
///
/// Spec: Errors › Response rules, rule 4.
#[doc(alias = "createErrorHandler")]
#[must_use]
pub fn create_error_handler(options: ErrorHandlerOptions) -> ErrorHandler {
    options.into()
}

/// Answers the errors of the middleware and handlers behind it by an
/// [`ErrorHandler`], or by the options of one.
///
/// ```
/// use stockade::middleware::{ErrorHandlerOptions, with_error_handling};
///
/// let shows_causes = with_error_handling(ErrorHandlerOptions::new().include_stack(true));
/// assert_eq!(shows_causes.name(), "with_error_handling");
/// ```
///
/// Spec: Errors › Response rules, rule 4.
#[doc(alias = "withErrorHandling")]
pub fn with_error_handling<M>(handler: impl IntoErrorHandler<M>) -> Middleware {
    handler.into_error_handler().into_middleware()
}
