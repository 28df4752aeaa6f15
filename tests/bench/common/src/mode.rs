//! [`Mode`]: how much a server does; the start of a server.

use std::env;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

/// How much a server does beside answering.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Routes, parsing and validation; nothing else.
    Bare,
    /// What the framework does by itself. Only stockade has it.
    Defaults,
    /// An allow-list of CORS, security headers, a rate limit, a limit of the
    /// body, and a bearer token for the route with two parameters.
    Full,
}

impl Mode {
    /// All of them, in this order.
    pub const ALL: [Self; 3] = [Self::Bare, Self::Defaults, Self::Full];

    /// The mode that the first argument of the process names; bare without one.
    ///
    /// # Panics
    /// When there is no such mode.
    #[must_use]
    pub fn from_args() -> Self {
        let Some(name) = env::args().nth(1) else { return Self::Bare };
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == name);
        mode.unwrap_or_else(|| panic!("{name:?} is none of bare, defaults, full"))
    }

    /// The name of the mode, as it is given to a server.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Defaults => "defaults",
            Self::Full => "full",
        }
    }
}

/// How many requests a client may make in [`WINDOW_SECONDS`]: so many that none
/// is ever refused.
pub const MAX_REQUESTS: u32 = 1_000_000_000;

/// The length of a window of the rate limit, in seconds.
pub const WINDOW_SECONDS: u32 = 60;

/// The largest body in full mode, in bytes.
pub const MAX_BODY: u64 = 65_536;

/// How many connections a server must take at a time.
pub const MAX_CONNECTIONS: u32 = 20_000;

/// The backlog of the listening socket.
pub const BACKLOG: u32 = 4_096;

/// How long an idle connection must stay, where a server would close it within
/// the time of the measurement.
pub const KEEP_ALIVE: Duration = Duration::from_secs(72);

/// A socket that listens on a free port of this machine with [`BACKLOG`] and does
/// not block: for servers that cannot set a backlog themselves.
///
/// # Errors
/// When there is no free port.
pub fn listener() -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // It listens already; to ask again changes the backlog.
    rustix::net::listen(&listener, i32::try_from(BACKLOG).unwrap_or(i32::MAX))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Says on standard output where the server listens; the caller waits for this
/// line.
pub fn announce(address: SocketAddr) {
    println!("listening on {address}");
}
