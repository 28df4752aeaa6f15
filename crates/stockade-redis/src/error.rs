//! [`LinkError`]: a command that was not done.

use std::fmt;
use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind};
use stockade_errors::ApiError;

/// A command that was not done, or of which that is not known.
#[derive(Debug)]
pub(crate) enum LinkError {
    /// The link is down: nothing was sent.
    Down(String),
    /// No answer came in time.
    Late(Duration),
    /// Too many commands wait for an answer: nothing was sent.
    Full,
    /// The engine has answered with an error, or the connection broke.
    Failed(RedisError),
}

impl LinkError {
    /// Returns true for a script that the engine does not know (any more).
    pub(crate) fn is_unknown_script(&self) -> bool {
        let Self::Failed(error) = self else { return false };
        error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
    }
}

/// Returns true for errors of an engine that is the wrong one or not ready: another
/// connection may lead to the right one.
pub(crate) fn wants_another_connection(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, MasterDown, ReadOnly};
    matches!(error.kind(), ErrorKind::Server(ReadOnly | MasterDown | BusyLoading))
        // Said by a script, whose errors have no kind of their own.
        || error.to_string().contains("READONLY")
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down(reason) => write!(f, "the engine is down: {reason}"),
            Self::Late(deadline) => write!(f, "the engine gave no answer within {deadline:?}"),
            Self::Full => f.write_str("too many commands wait for the engine"),
            Self::Failed(error) => write!(f, "the engine failed: {error}"),
        }
    }
}

impl std::error::Error for LinkError {}

/// Makes a 503, after which a client may try again.
impl From<LinkError> for ApiError {
    fn from(error: LinkError) -> Self {
        Self::new(503, error.to_string()).with_header("Retry-After", "1")
    }
}
