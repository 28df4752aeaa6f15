//! [`RevokeError`]: an error while revoking tokens.

use std::error::Error;
use std::fmt;

use stockade_errors::ApiError;

/// The reason why a revocation failed, or is not yet effective everywhere.
///
/// As an [`ApiError`] it is a 503, or a 500 for a token without `exp`, which is
/// a programming error.
#[derive(Debug)]
#[non_exhaustive]
pub enum RevokeError {
    /// The token lacks `exp`, so the entry would never expire. Use
    /// [`revoke_for`](super::Revocations::revoke_for).
    NoExpiry,
    /// There are already [`max_entries`](super::Revocations::max_entries), and
    /// no log stores more. Nothing was revoked.
    Full,
    /// There are already [`max_entries`](super::Revocations::max_entries), and
    /// the log that stores more is unavailable. Nothing was revoked.
    Beyond(Box<dyn Error + Send + Sync>),
    /// The token is revoked in this process. Other processes learn it later,
    /// because the log is unavailable.
    Log(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for RevokeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExpiry => f.write_str("a token without `exp` would be stored forever"),
            Self::Full => f.write_str("too many revocations"),
            Self::Beyond(error) => {
                write!(f, "too many revocations for this process: {error}")
            }
            Self::Log(error) => write!(f, "revoked only in this process for now: {error}"),
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
