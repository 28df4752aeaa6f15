//! [`create_api_middleware`]: style B middleware of a function.
//!
//! Spec: Middleware helpers › `createApiMiddleware`.

use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware};

/// Makes middleware of an `async fn(Request, Next)`. An error that it returns
/// and a panic in it take the path of errors: middleware outside of it sees
/// them, and the client gets the answer of an error.
///
/// Every style B function that is added to a route is treated like this; this
/// says so where it stands, and takes no other form.
///
/// ```
/// use stockade_core::{ApiError, Next, Request, Response};
/// use stockade_middleware::create_api_middleware;
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
