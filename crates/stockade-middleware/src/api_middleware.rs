//! [`create_api_middleware`]: makes style B middleware of a function.
//!
//! Spec: Middleware helpers › `createApiMiddleware`.

use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware};

/// Makes middleware of an `async fn(Request, Next)`. An error that it returns
/// and a panic in it go to the error handling: outer middleware sees them, and
/// the client gets the answer of an error.
///
/// A route treats every style B function like this. This function makes the
/// style visible in the code and takes no other form.
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
///
/// Spec: Middleware helpers › `createApiMiddleware`.
#[doc(alias = "createApiMiddleware")]
pub fn create_api_middleware<R>(function: impl IntoMiddleware<form::StyleB<R>>) -> Middleware {
    function.into_middleware()
}
