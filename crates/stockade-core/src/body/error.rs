//! [`BodyError`]: why a body could not be read to its end.

use std::fmt;

use stockade_errors::{ApiError, BoxError};

/// Why the bytes of a request's body stopped coming.
///
/// A host (the own server, an adapter) gives these as the error of the body's
/// stream, so that the answer has the right status; every other error of a
/// stream counts as [`BodyError::Broken`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyError {
    /// The framing is malformed, or the client left in the middle: 400.
    Broken,
    /// The body did not arrive in time: 408.
    TimedOut,
    /// The body is larger than the limit of the route: 413.
    TooLarge,
}

impl BodyError {
    /// Returns the kind that is behind an error of a stream.
    #[must_use]
    pub fn of(error: &BoxError) -> Self {
        let direct = error.downcast_ref::<Self>();
        let behind = || error.source().and_then(|source| source.downcast_ref::<Self>());
        direct.or_else(behind).copied().unwrap_or(Self::Broken)
    }

    /// Returns the error that the application's end of a stream gives: with `?`
    /// it is answered with its own status.
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
