//! [`create_error_handler`] and [`with_error_handling`]: custom error
//! responses.
// Spec: Errors › Response rules, rule 4.

use stockade_core::{
    ErrorHandler, ErrorHandlerOptions, IntoErrorHandler, IntoMiddleware as _, Middleware,
};

/// Creates an error handler: middleware for its routes, and
/// [`ErrorHandler::answer`] for other hosts.
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
// Spec: Errors › Response rules, rule 4.
#[doc(alias = "createErrorHandler")]
#[must_use]
pub fn create_error_handler(options: ErrorHandlerOptions) -> ErrorHandler {
    options.into()
}

/// Converts the errors of inner middleware and handlers to responses with an
/// [`ErrorHandler`], or with the options of one.
///
/// ```
/// use stockade::middleware::{ErrorHandlerOptions, with_error_handling};
///
/// let shows_causes = with_error_handling(ErrorHandlerOptions::new().include_stack(true));
/// assert_eq!(shows_causes.name(), "with_error_handling");
/// ```
// Spec: Errors › Response rules, rule 4.
#[doc(alias = "withErrorHandling")]
pub fn with_error_handling<M>(handler: impl IntoErrorHandler<M>) -> Middleware {
    handler.into_error_handler().into_middleware()
}
