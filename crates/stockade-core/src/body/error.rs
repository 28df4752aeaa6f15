//! [`BodyError`]: a failure to read a body to its end.

use std::fmt;

use stockade_errors::{ApiError, BoxError};

/// The reason why a request body ended early.
///
/// A host (the built-in server or an adapter) uses these as errors of the body
/// stream, and the response gets the matching status. Every other stream error
/// counts as [`BodyError::Broken`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyError {
    /// The framing is malformed, or the client disconnected before the end:
    /// 400.
    Broken,
    /// The body did not arrive in time: 408.
    TimedOut,
    /// The body is larger than the limit of the route: 413.
    TooLarge,
}

impl BodyError {
    /// Returns the kind that a stream error contains.
    #[must_use]
    pub fn of(error: &BoxError) -> Self {
        let direct = error.downcast_ref::<Self>();
        let behind = || error.source().and_then(|source| source.downcast_ref::<Self>());
        direct.or_else(behind).copied().unwrap_or(Self::Broken)
    }

    /// Returns the error for a stream that the application reads. With `?`, it
    /// becomes a response with its own status.
    pub(crate) fn into_box(self) -> BoxError {
        Box::new(ApiError::from(self).with_source(self))
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Broken => Self::new(400, "Malformed request body"),
            BodyError::TimedOut => Self::new(408, "Request Timeout"),
            BodyError::TooLarge => Self::new(413, "Request body too large"),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Broken => "the body is malformed or incomplete",
            Self::TimedOut => "the body did not arrive in time",
            Self::TooLarge => "the body is larger than the limit",
        })
    }
}

impl std::error::Error for BodyError {}
