//! [`ServeError`]: the reason why a server could not listen.

use std::net::SocketAddr;
use std::{error, fmt, io};

/// The reason why a server could not listen.
///
/// An error of a connection never becomes one of these: a server that listens
/// goes on until it is shut down. `Debug` writes the same text as `Display`,
/// because a `main` that returns the error prints it by `Debug`.
#[non_exhaustive]
pub enum ServeError {
    /// The address could not be read or looked up.
    Address {
        /// The address as it was given.
        address: String,
        /// The error of the look-up.
        source: io::Error,
    },
    /// The address could not be bound, mostly because another process has it.
    Bind {
        /// The address, after the look-up.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The handlers for the signals could not be installed.
    Signals {
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, source } => {
                write!(f, "cannot listen on {address}: {source}")
            }
            Self::Bind { address, source } => {
                write!(f, "cannot listen on {address}: ")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => f.write_str("address already in use"),
                    io::ErrorKind::AddrNotAvailable => {
                        f.write_str("this machine does not have the address")
                    }
                    io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
                    _ => source.fmt(f),
                }
            }
            Self::Signals { source } => write!(f, "cannot watch for signals: {source}"),
        }
    }
}

impl error::Error for ServeError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Address { source, .. } | Self::Bind { source, .. } | Self::Signals { source } => {
                Some(source)
            }
        }
    }
}
