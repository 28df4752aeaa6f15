//! [`unauthorized`]: the 401 for requests without a valid user.
// Spec: Errors › Statuses produced by the framework, row 401.

use stockade_errors::ApiError;

use crate::Request;
use crate::route_context::RouteContext;

/// Returns the 401 of the specification, with a `WWW-Authenticate` header for
/// each challenge.
///
/// Source: RFC 9110, section 11.6.1.
#[must_use]
pub fn unauthorized<'c>(challenges: impl IntoIterator<Item = &'c str>) -> ApiError {
    let error = ApiError::new(401, "Unauthorized");
    challenges.into_iter().fold(error, |error, challenge| error.with_header(NAME, challenge))
}

impl Request {
    /// Returns the 401 for a request without a user. The response contains the
    /// challenges of the route's authentication methods; the last `with_auth`
    /// of the route declares them.
    ///
    /// The challenge is `Bearer` if the route does not declare a method.
    ///
    /// ```
    /// use stockade::{ApiError, Request};
    ///
    /// fn friends_only(req: &mut Request) -> Result<(), ApiError> {
    ///     if req.user().is_some() { Ok(()) } else { Err(req.unauthorized()) }
    /// }
    /// # let mut req = Request::from(stockade::http::Request::get("/").body(()).unwrap());
    /// # let error = friends_only(&mut req).unwrap_err();
    /// # assert_eq!(error.headers().next(), Some(("www-authenticate", "Bearer")));
    /// ```
    #[must_use]
    #[cold]
    pub fn unauthorized(&self) -> ApiError {
        unauthorized_on(self.inner.route.as_deref())
    }
}

/// Returns the 401 of a route.
pub(crate) fn unauthorized_on(route: Option<&RouteContext>) -> ApiError {
    // A request without a route does not have authentication methods.
    match route.map(|route| &*route.challenges).unwrap_or_default() {
        [] => unauthorized(["Bearer"]),
        challenges => unauthorized(challenges.iter().map(|challenge| &**challenge)),
    }
}

const NAME: &str = "www-authenticate";
