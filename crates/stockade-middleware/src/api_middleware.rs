//! [`create_api_middleware`]: creates style B middleware from a function.
// Spec: Middleware helpers › `createApiMiddleware`.

use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware};

/// Creates middleware from an `async fn(Request, Next)`. Errors and panics in
/// the function go to error handling: outer middleware sees them, and the
/// client gets an error response.
///
/// A route treats every style B function like this. This function makes the
/// style visible in the code and accepts only style B.
///
/// ```
/// use stockade::middleware::create_api_middleware;
/// use stockade::{ApiError, Next, Request, Response};
///
/// async fn tenant(req: Request, next: Next) -> Result<Response, ApiError> {
///     if !req.headers().contains_key("x-tenant") {
///         return Err(ApiError::new(400, "the header x-tenant is missing"));
///     }
///     Ok(next.run(req).await)
/// }
///
/// assert!(create_api_middleware(tenant).name().ends_with("tenant"));
/// ```
// Spec: Middleware helpers › `createApiMiddleware`.
#[doc(alias = "createApiMiddleware")]
pub fn create_api_middleware<R>(function: impl IntoMiddleware<form::StyleB<R>>) -> Middleware {
    function.into_middleware()
}
