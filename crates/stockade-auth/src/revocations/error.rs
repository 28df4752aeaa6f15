//! [`RevokeError`].

use std::error::Error;
use std::fmt;

use stockade_errors::ApiError;

/// The reason why something was not revoked, or not everywhere.
///
/// As an [`ApiError`] it is a 503, and a 500 for a token without `exp`, which is a
/// mistake of the program.
#[derive(Debug)]
#[non_exhaustive]
pub enum RevokeError {
    /// The token has no `exp`, and would have to be kept for ever. Take
    /// [`revoke_for`](super::Revocations::revoke_for).
    NoExpiry,
    /// There are [`max_entries`](super::Revocations::max_entries) already, and no log
    /// that keeps more. Nothing was revoked.
    Full,
    /// There are [`max_entries`](super::Revocations::max_entries) already, and the log
    /// that keeps more cannot be reached. Nothing was revoked.
    Beyond(Box<dyn Error + Send + Sync>),
    /// It is revoked in this process, and the others will learn it later: their log
    /// cannot be reached.
    Log(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for RevokeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExpiry => f.write_str("a token without `exp` would be kept for ever"),
            Self::Full => f.write_str("there are too many revocations"),
            Self::Beyond(error) => {
                write!(f, "there are too many revocations for this process: {error}")
            }
            Self::Log(error) => write!(f, "revoked in this process alone for now: {error}"),
        }
    }
}

impl Error for RevokeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Log(error) | Self::Beyond(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<RevokeError> for ApiError {
    fn from(error: RevokeError) -> Self {
        match error {
            RevokeError::NoExpiry => Self::internal(error),
            _ => Self::new(503, error.to_string()).with_header("Retry-After", "1"),
        }
    }
}
