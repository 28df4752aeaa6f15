//! [`RequestHead`]: a request without its body, which can be shared.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap};
use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_errors::ApiError;

use crate::challenge::unauthorized_on;
use crate::endpoint::ErrorContext;
use crate::kept_head::KeptHead;
use crate::lazy_user::LazyUser;
use crate::route_context::RouteContext;
use crate::{Request, escaped, header_map_pool};

/// The head of a request, with its user, client, request id and application
/// state.
///
/// A [`Request`] cannot be shared, because its body may be a stream.
///
/// An error function receives a head as its second argument:
///
/// ```
/// use stockade::http::header::ACCEPT;
/// use stockade::prelude::*;
/// use stockade::{ErrorReply, RequestHead};
///
/// /// Sends text to clients that ask for it, and JSON to all others.
/// fn problem(error: &mut ErrorReply, req: &RequestHead) {
///     if req.headers().get(ACCEPT).is_some_and(|accept| accept == "text/plain") {
///         let name = req.user().and_then(|user| user["name"].as_str()).unwrap_or("nobody");
///         error.set_body("text/plain", format!("{} for {name}", error.message()));
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let api = routes! { "orders": { GET: async || Err::<(), _>(ApiError::new(409, "Sold out")) } };
/// let app = create_router(api, RouterOptions::new().error_handling(problem)).build()?;
/// let request = stockade::http::Request::get("/orders").header("accept", "text/plain").body(())?;
/// let response = app.handle(request).await;
/// assert_eq!(response.body().as_bytes(), Some(b"Sold out for nobody".as_slice()));
/// # Ok(())
/// # }
/// ```
///
/// Here, the headers and extensions are a copy from when the request reached
/// its route. Later changes by middleware are not visible. The user is the most
/// recent user of the request, even if a handler consumed the request.
pub struct RequestHead {
    head: Parts,
    user: LazyUser,
    client: Option<IpAddr>,
    route: Option<Arc<RouteContext>>,
    context: ErrorContext,
}

impl RequestHead {
    /// Extracts everything except the body from a request.
    #[must_use]
    pub fn of(mut req: Request) -> Self {
        let context = ErrorContext::of(&req);
        let client = req.client_ip();
        let (empty, ()) = http::Request::new(()).into_parts();
        Self {
            head: std::mem::replace(&mut req.inner.head, empty),
            user: std::mem::take(&mut req.inner.user),
            client,
            route: req.inner.route.take(),
            context,
        }
    }

    /// Creates the head for an error from the copy of its request. Without a
    /// copy, it does not have headers.
    pub(crate) fn of_error(context: &ErrorContext) -> Self {
        let kept = context.head.as_deref();
        let empty = || http::Request::new(()).into_parts().0;
        Self {
            head: kept.map_or_else(empty, |kept| kept.head.clone()),
            user: kept.map(KeptHead::user).unwrap_or_default(),
            client: kept.and_then(|kept| kept.client),
            route: context.route.clone(),
            context: context.clone(),
        }
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Returns the values that middleware and hosts added to the request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.head.extensions
    }

    /// Returns the user, if there is one.
    #[must_use]
    pub fn user(&self) -> Option<&Value> {
        self.user.value()
    }

    /// Returns the user as an application type.
    ///
    /// # Errors
    /// 401 if the request is unauthenticated, or if the user does not match the
    /// type.
    pub fn user_as<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let user = self.user.read().ok_or_else(|| self.unauthorized())?;
        user.map_err(|error| {
            let error = escaped(error);
            log::debug!(target: "stockade::auth", "the user does not match its type: {error}");
            self.unauthorized()
        })
    }

    #[cold]
    fn unauthorized(&self) -> ApiError {
        unauthorized_on(self.route.as_deref())
    }

    /// Returns the client's address, if the host provides it.
    #[must_use]
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.client
    }

    /// Returns the value of type `T` that the application provided.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.route.as_deref()?.states.get()
    }

    /// Returns the request id and the settings, for logging errors.
    #[must_use]
    pub fn context(&self) -> &ErrorContext {
        &self.context
    }
}

impl Drop for RequestHead {
    fn drop(&mut self) {
        header_map_pool::give_back(&mut self.head.headers);
    }
}

impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead").field("id", &self.context.id()).finish_non_exhaustive()
    }
}
