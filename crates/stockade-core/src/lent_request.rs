//! `LentRequest`: a request without its head and body, which a tower service
//! currently owns.

use std::any::Any;
use std::fmt;

use http::Uri;
use stockade_errors::{ApiError, BoxError};

use crate::{BodyError, HttpBody, Request};

/// The part of a request that only stockade has: its route, parameters, user
/// and limits.
pub struct LentRequest {
    req: Request,
    /// The original target, which contains the parameters.
    uri: Uri,
    /// True if the service has the only copy of the body.
    has_lent_body: bool,
}

impl LentRequest {
    /// Takes the head and the body out of a request.
    ///
    /// A body above the limit of the route ends with an error. If the body is
    /// already parsed, the service gets a copy of the original bytes, and the
    /// parsed body stays here.
    #[must_use]
    pub fn of(mut req: Request) -> (http::Request<HttpBody>, Self) {
        let (empty, ()) = http::Request::new(()).into_parts();
        let head = std::mem::replace(&mut req.inner.head, empty);
        let (body, has_lent_body) = req.inner.payload.lend(req.inner.max_body);
        let uri = head.uri.clone();
        (http::Request::from_parts(head, body), Self { req, uri, has_lent_body })
    }

    /// Rebuilds the request from a head and a body that may have changed.
    ///
    /// The route and its parameters still refer to the original target. A
    /// parsed body is not replaced.
    #[must_use]
    pub fn attach(self, request: http::Request<HttpBody>) -> Request {
        let Self { mut req, uri, has_lent_body } = self;
        let (head, body) = request.into_parts();
        if head.uri.path() != uri.path() {
            req.inner.head.uri = uri;
            let params = req.param_values();
            req.set_params(params);
        }
        req.inner.head = head;
        if has_lent_body {
            req.inner.payload.give_back(body);
        }
        req
    }
}

impl fmt::Debug for LentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentRequest").field("uri", &self.uri).finish_non_exhaustive()
    }
}

/// Returns the byte position in the path at which the rest for `**` begins, or
/// `None` for a route without `**`.
#[must_use]
pub fn start_of_rest(req: &Request) -> Option<usize> {
    req.inner.params.start(stockade_path::SPLAT)
}

/// Converts the body of a tower service. Returns it unchanged if it is already
/// an `HttpBody`.
#[must_use]
pub fn into_body<B>(body: B) -> HttpBody
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut body = Some(body);
    let ours = (&mut body as &mut dyn Any).downcast_mut::<Option<HttpBody>>();
    if let Some(ours) = ours.and_then(Option::take) {
        return ours;
    }
    // The body is still present unless the branch above took it.
    body.map_or_else(HttpBody::empty, HttpBody::new)
}

/// Converts the error of a tower service. An [`ApiError`] is unchanged, a
/// request body error keeps its own status, and any other error is a 500.
#[must_use]
pub fn service_error(error: BoxError) -> ApiError {
    let error = match error.downcast::<ApiError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&*error);
    while let Some(error) = cause {
        if let Some(body) = error.downcast_ref::<BodyError>() {
            return (*body).into();
        }
        cause = error.source();
    }
    ApiError::new(500, error.to_string()).with_source(error)
}
