//! [`ErrorKind`]: the kinds of errors, for error handlers.

/// The kind of an [`ApiError`](crate::ApiError).
///
/// It depends on the status, except for [`Validation`](Self::Validation), which
/// differs from any other 400 or 422.
///
/// ```
/// use stockade::{ApiError, ErrorKind};
///
/// assert_eq!(ApiError::conflict().kind(), ErrorKind::Conflict);
/// assert_eq!(ApiError::validation(&[]).kind(), ErrorKind::Validation);
/// assert_eq!(ApiError::new(400, "Invalid JSON body").kind(), ErrorKind::BadRequest);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The body, the query or a parameter does not match its schema.
    Validation,
    /// Any other 400, such as a body that is not valid JSON.
    BadRequest,
    /// 401: the request is unauthenticated.
    Authentication,
    /// 403: the user does not have permission.
    Authorization,
    /// 404: no route matches the path, or the handler did not find its
    /// resource.
    NotFound,
    /// 405: the path supports only other methods.
    MethodNotAllowed,
    /// 408 and 504: the client or another service took too long.
    Timeout,
    /// 409: the change conflicts with the current state.
    Conflict,
    /// 413: the body is larger than its limit.
    TooLarge,
    /// 415: the route does not support the body's media type.
    UnsupportedMediaType,
    /// 429: the client sends too many requests.
    RateLimited,
    /// 503: the service is overloaded, or a route took longer than its limit.
    Unavailable,
    /// Any other 5xx, including a panic.
    Internal,
    /// Any other 4xx.
    Other,
}

impl ErrorKind {
    /// Returns the kind for a status, which is never `Validation`.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            400 => Self::BadRequest,
            401 => Self::Authentication,
            403 => Self::Authorization,
            404 => Self::NotFound,
            405 => Self::MethodNotAllowed,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            415 => Self::UnsupportedMediaType,
            429 => Self::RateLimited,
            503 => Self::Unavailable,
            500.. => Self::Internal,
            _ => Self::Other,
        }
    }
}
