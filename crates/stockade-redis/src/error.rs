//! The errors of commands.

use std::fmt;
use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind};
use stockade_errors::{ApiError, StoreError};

/// A command that did not run, or that has an unknown result.
#[derive(Debug)]
pub(crate) enum LinkError {
    /// The link is down. Nothing was sent.
    Down(String),
    /// No response arrived in time.
    Late(Duration),
    /// Too many commands are waiting for a response. Nothing was sent.
    Full,
    /// The server returned an error, or the connection broke.
    Failed(RedisError),
}

impl LinkError {
    /// Returns true if the script is not in the server's script cache.
    pub(crate) fn is_unknown_script(&self) -> bool {
        let Self::Failed(error) = self else { return false };
        error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
    }

    /// Returns true if the server has reached its `maxmemory`.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        let Self::Failed(error) = self else { return false };
        // Some versions embed the script's error in the text of another error.
        error.code() == Some("OOM") || error.to_string().contains("OOM command not allowed")
    }
}

/// The cluster node that has a slot.
pub(crate) struct Redirect {
    /// The host. Empty means the host of the node that sent the redirect.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// True during a slot migration: only this command goes to the new node.
    pub(crate) is_only_once: bool,
}

impl LinkError {
    /// Returns the target node for the command.
    pub(crate) fn redirect(&self) -> Option<Redirect> {
        let Self::Failed(error) = self else { return None };
        let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
        let is_only_once = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
        Some(Redirect { host: host.to_owned(), port: port.parse().ok()?, is_only_once })
    }

    /// Returns true if the slot may have moved to another node.
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

/// Returns true if the server has the wrong role or is not ready. A new
/// connection may reach the right server.
pub(crate) fn wants_another_connection(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, MasterDown, ReadOnly};
    matches!(error.kind(), ErrorKind::Server(ReadOnly | MasterDown | BusyLoading))
        // Errors from scripts do not have their own error kind.
        || error.to_string().contains("READONLY")
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down(reason) => write!(f, "Redis is down: {reason}"),
            Self::Late(deadline) => write!(f, "Redis did not respond within {deadline:?}"),
            Self::Full => f.write_str("too many commands are waiting for Redis"),
            Self::Failed(error) => write!(f, "Redis failed: {error}"),
        }
    }
}

impl std::error::Error for LinkError {}

/// Maps out-of-memory errors to `Full` and all others to unavailable.
impl From<LinkError> for StoreError {
    fn from(error: LinkError) -> Self {
        if error.is_out_of_memory() { Self::Full } else { Self::unavailable(error) }
    }
}

/// Creates a 503 with `Retry-After: 1`.
impl From<LinkError> for ApiError {
    fn from(error: LinkError) -> Self {
        Self::new(503, error.to_string()).with_header("Retry-After", "1")
    }
}
