//! [`ServeError`]: the reason why a server could not start.

use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;

use std::{error, fmt, io};
use stockade_errors::{BoxError, ConfigError};

/// The reason why a server could not start.
///
/// Connection errors never become a `ServeError`: a running server continues
/// until it is shut down. `Debug` writes the same text as `Display`, because a
/// `main` that returns the error prints it with `Debug`.
#[non_exhaustive]
pub enum ServeError {
    /// The routes or the options have configuration errors.
    Config {
        /// All of the configuration errors.
        source: ConfigError,
    },
    /// A function of `Router::state_at_start` failed.
    Start {
        /// The error of its function.
        source: BoxError,
    },
    /// The address could not be parsed or resolved.
    Address {
        /// The address as passed to the server.
        address: String,
        /// The resolution error.
        source: io::Error,
    },
    /// The address could not be bound, usually because another process uses it.
    Bind {
        /// The resolved address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The Unix socket could not be bound.
    #[cfg(unix)]
    BindUnix {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The inherited sockets could not be used.
    #[cfg(unix)]
    Inherited {
        /// The reason.
        source: io::Error,
    },
    /// An existing listener could not be used.
    Listener {
        /// The reason.
        source: io::Error,
    },
    /// The signal handlers could not be installed.
    Signals {
        /// The error of the system.
        source: io::Error,
    },
}

impl From<ConfigError> for ServeError {
    fn from(source: ConfigError) -> Self {
        Self::Config { source }
    }
}

impl ServeError {
    pub(crate) fn of_listener(source: io::Error) -> Self {
        Self::Listener { source }
    }
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { source } => write!(f, "{source}"),
            Self::Start { source } => write!(f, "cannot start the application: {source}"),
            Self::Address { address, source } => {
                write!(f, "cannot listen on {address}: {source}")
            }
            Self::Bind { address, source } => {
                write!(f, "cannot listen on {address}: ")?;
                write_bind_error(source, f)
            }
            #[cfg(unix)]
            Self::BindUnix { path, source } => {
                write!(f, "cannot listen on unix:{}: ", path.display())?;
                write_bind_error(source, f)
            }
            #[cfg(unix)]
            Self::Inherited { source } => write!(f, "cannot use inherited sockets: {source}"),
            Self::Listener { source } => write!(f, "cannot use the listener: {source}"),
            Self::Signals { source } => write!(f, "cannot watch for signals: {source}"),
        }
    }
}

fn write_bind_error(error: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error.kind() {
        io::ErrorKind::AddrInUse => f.write_str("address already in use"),
        io::ErrorKind::AddrNotAvailable => f.write_str("this machine does not have the address"),
        io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
        _ => write!(f, "{error}"),
    }
}

impl error::Error for ServeError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Config { source } => Some(source),
            Self::Start { source } => Some(&**source),
            #[cfg(unix)]
            Self::BindUnix { source, .. } | Self::Inherited { source } => Some(source),
            Self::Address { source, .. }
            | Self::Bind { source, .. }
            | Self::Listener { source }
            | Self::Signals { source } => Some(source),
        }
    }
}
