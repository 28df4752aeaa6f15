//! [`LinkError`]: a command that was not done.

use std::fmt;
use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind};
use stockade_errors::{ApiError, StoreError};

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

    /// Returns true if the engine has reached its `maxmemory`.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        let Self::Failed(error) = self else { return false };
        // Some versions put the error of a script into the text of another one.
        error.code() == Some("OOM") || error.to_string().contains("OOM command not allowed")
    }
}

/// The node of a cluster that has a slot.
pub(crate) struct Redirect {
    /// Empty for that of the node that said so.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// True while the slot moves: only this command is to go there.
    pub(crate) is_only_once: bool,
}

impl LinkError {
    /// Returns the node that the command is to be sent to.
    pub(crate) fn redirect(&self) -> Option<Redirect> {
        let Self::Failed(error) = self else { return None };
        let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
        let is_only_once = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
        Some(Redirect { host: host.to_owned(), port: port.parse().ok()?, is_only_once })
    }

    /// Returns true if the slot may have another node by now.
    pub(crate) fn is_of_a_node(&self) -> bool {
        use ServerErrorKind::{Ask, ClusterDown, Moved};
        match self {
            Self::Down(_) | Self::Late(_) => true,
            Self::Full => false,
            Self::Failed(error) => {
                matches!(error.kind(), ErrorKind::Io | ErrorKind::Server(Moved | Ask | ClusterDown))
                    || error.is_connection_dropped()
            }
        }
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

/// An engine without memory is full, and any other fault makes it unavailable.
impl From<LinkError> for StoreError {
    fn from(error: LinkError) -> Self {
        if error.is_out_of_memory() { Self::Full } else { Self::unavailable(error) }
    }
}

/// Makes a 503, after which a client may try again.
impl From<LinkError> for ApiError {
    fn from(error: LinkError) -> Self {
        Self::new(503, error.to_string()).with_header("Retry-After", "1")
    }
}
