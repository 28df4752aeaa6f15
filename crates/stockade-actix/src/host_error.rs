//! [`HostError`]: an error of a route as an actix-web error.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use bytes::Bytes;
use http::HeaderMap;
use stockade_core::{Response, error_of};
use stockade_errors::ApiError;

use crate::response;

/// An error of a route in [`ActixRoutes`](crate::ActixRoutes), as seen by
/// actix-web middleware in a response.
///
/// Its response is the same as on the stockade server, which hides the message
/// of a 5xx. Its `Display` text is the original message, for the log.
///
/// ```
/// use actix_web::HttpResponse;
/// use stockade::actix::HostError;
///
/// /// The status of our error, for middleware of the host.
/// fn status_of_our_error(response: &HttpResponse) -> Option<u16> {
///     let error = response.error()?.as_error::<HostError>()?;
///     Some(error.api_error().status())
/// }
/// assert_eq!(status_of_our_error(&HttpResponse::Ok().finish()), None);
/// ```
#[derive(Clone)]
pub struct HostError {
    error: ApiError,
    status: http::StatusCode,
    headers: HeaderMap,
    body: Bytes,
    is_head: bool,
}

impl HostError {
    /// Creates the error from an error response. Returns `None` for other
    /// responses, and if the status was changed later.
    pub(crate) fn of(response: &Response, is_head: bool) -> Option<Self> {
        let error = error_of(response)?;
        let status = response.status();
        let body = response.body().as_bytes()?;
        (error.status() == status.as_u16()).then(|| Self {
            error: error.clone(),
            status,
            headers: response.headers().clone(),
            body: Bytes::copy_from_slice(body),
            is_head,
        })
    }

    /// Returns the error of the route.
    #[must_use]
    pub fn api_error(&self) -> &ApiError {
        &self.error
    }
}

impl ResponseError for HostError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        let mut ours = Response::new(self.body.clone().into());
        *ours.status_mut() = self.status;
        *ours.headers_mut() = self.headers.clone();
        ours.extensions_mut().insert(self.error.clone());
        response::translate(ours, self.is_head)
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Debug for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostError").field(&self.error).finish()
    }
}
