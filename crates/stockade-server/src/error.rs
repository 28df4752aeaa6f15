//! [`ServeError`]: why a server could not listen.

use std::net::SocketAddr;
use std::{error, fmt, io};

/// Why a server could not listen.
///
/// Nothing that happens on a connection is one of these: a server that listens
/// goes on until it is shut down. `Debug` gives the same text as `Display`,
/// because that is what a `main` that returns it prints.
#[non_exhaustive]
pub enum ServeError {
    /// The address could not be read or looked up.
    Address {
        /// As it was given.
        address: String,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The address could not be bound; mostly, another process has it.
    Bind {
        /// The address, looked up.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The handlers for the signals could not be installed.
    Signals {
        /// What the system says.
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
