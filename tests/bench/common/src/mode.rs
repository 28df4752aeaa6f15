//! [`Mode`]: the amount of work that a server does, and functions to start a
//! server.

use std::env;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

/// The amount of work that a server does in addition to responding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Only routing, parsing and validation.
    Bare,
    /// The framework's default features. Only stockade has this mode.
    Defaults,
    /// A CORS allow-list, security headers, a rate limit, a body limit, and a
    /// bearer token for the route with two parameters.
    Full,
}

impl Mode {
    /// All modes in this order.
    pub const ALL: [Self; 3] = [Self::Bare, Self::Defaults, Self::Full];

    /// Returns the mode in the first argument of the process; the default is
    /// bare.
    ///
    /// # Panics
    /// Panics if the mode does not exist.
    #[must_use]
    pub fn from_args() -> Self {
        let Some(name) = env::args().nth(1) else { return Self::Bare };
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == name);
        mode.unwrap_or_else(|| panic!("{name:?} is none of bare, defaults, full"))
    }

    /// Returns the name of the mode as a server argument.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Defaults => "defaults",
            Self::Full => "full",
        }
    }
}

/// The maximum number of requests of a client in [`WINDOW_SECONDS`], high
/// enough to never reject a request.
pub const MAX_REQUESTS: u32 = 1_000_000_000;

/// The length of a rate limit window, in seconds.
pub const WINDOW_SECONDS: u32 = 60;

/// The maximum body size in full mode, in bytes.
pub const MAX_BODY: u64 = 65_536;

/// The number of connections that a server must accept at a time.
pub const MAX_CONNECTIONS: u32 = 20_000;

/// The backlog of the listening socket.
pub const BACKLOG: u32 = 4_096;

/// The time that an idle connection must stay open if the server would
/// otherwise close it during the measurement.
pub const KEEP_ALIVE: Duration = Duration::from_secs(72);

/// Returns a nonblocking socket that listens on a free local port with
/// [`BACKLOG`], for servers that cannot set a backlog themselves.
///
/// # Errors
/// Returns an error if no port is free.
pub fn listener() -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // The socket already listens; a second call changes the backlog.
    rustix::net::listen(&listener, i32::try_from(BACKLOG).unwrap_or(i32::MAX))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Prints the server's address on standard output; the caller waits for this
/// line.
pub fn announce(address: SocketAddr) {
    println!("listening on {address}");
}
