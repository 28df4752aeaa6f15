//! `LentRequest`: a request without its head and body, which are with a tower
//! service meanwhile.

use std::any::Any;
use std::fmt;

use http::Uri;
use stockade_errors::{ApiError, BoxError};

use crate::{BodyError, HttpBody, Request};

/// The part of a request that only stockade has: its route, its parameters, its
/// user, its limits.
pub struct LentRequest {
    req: Request,
    /// The target by which the parameters are found.
    uri: Uri,
    /// True if the service has the only copy of the body.
    has_lent_body: bool,
}

impl LentRequest {
    /// Takes the head and the body out of a request.
    ///
    /// The body ends with an error above the limit of the route. One that was
    /// parsed already is copied as it was sent, and stays here.
    #[must_use]
    pub fn of(mut req: Request) -> (http::Request<HttpBody>, Self) {
        let (empty, ()) = http::Request::new(()).into_parts();
        let head = std::mem::replace(&mut req.inner.head, empty);
        let (body, has_lent_body) = req.inner.payload.lend(req.inner.max_body);
        let uri = head.uri.clone();
        (http::Request::from_parts(head, body), Self { req, uri, has_lent_body })
    }

    /// Makes a request again, of a head and a body that may have changed.
    ///
    /// The route and its parameters stay those of the earlier target. A body that
    /// was parsed already stays as it is.
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

/// Returns the byte of the path at which the rest that `**` took begins; `None`
/// on a route without it.
#[must_use]
pub fn start_of_rest(req: &Request) -> Option<usize> {
    req.inner.params.start(stockade_path::SPLAT)
}

/// Returns a body of a tower service as ours: the same, if it is ours already.
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
    // Without the branch above nothing was taken.
    body.map_or_else(HttpBody::empty, HttpBody::new)
}

/// Returns the error of a tower service: an [`ApiError`] as it is, that of a
/// request's body with its own status, and any other as a 500.
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
