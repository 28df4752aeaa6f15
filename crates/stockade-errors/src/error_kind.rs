//! [`ErrorKind`]: errors by kind, for those who answer them.

/// The kind of an [`ApiError`](crate::ApiError).
///
/// It follows from the status, but for [`Validation`](Self::Validation), which
/// is told apart from any other 400 or 422.
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
    /// A body, a query or a parameter that breaks its schema.
    Validation,
    /// Any other 400, such as a body that is no JSON.
    BadRequest,
    /// 401: there is no valid user.
    Authentication,
    /// 403: the user may not do this.
    Authorization,
    /// 404: no route has the path, or a handler has not found its resource.
    NotFound,
    /// 405: the path has other methods.
    MethodNotAllowed,
    /// 408 and 504: the client, or another service, took too long.
    Timeout,
    /// 409: the change contradicts the current state.
    Conflict,
    /// 413: the body is larger than its limit.
    TooLarge,
    /// 415: the body is of a type that nothing reads.
    UnsupportedMediaType,
    /// 429: the client asks too often.
    RateLimited,
    /// 503: the service has no room, or a route took longer than its limit.
    Unavailable,
    /// Any other 5xx, a panic included.
    Internal,
    /// Any other 4xx.
    Other,
}

impl ErrorKind {
    /// Returns the kind that a status alone tells.
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
