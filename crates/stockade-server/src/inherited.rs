//! [`InheritedSockets`]: listeners that the process was started with.

use std::collections::VecDeque;
use std::env;
use std::io::{self, ErrorKind};

use listenfd::ListenFd;
use socket2::SockRef;

use crate::listener::Bound;
use crate::{LocalAddr, ServeError, tcp, unix};

/// Listeners that the process was started with, by systemd's protocol for socket
/// activation: `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES`.
///
/// The process that starts this one keeps the sockets open. So no connection is
/// refused while the program restarts, a port below 1,024 needs no rights of the
/// program, and the first connection may start it. A systemd unit `app.socket` beside
/// `app.service` does it, and so does `systemfd` while a program is developed.
///
/// ```no_run
/// use stockade::Router;
/// use stockade::server::{CreateServer, InheritedSockets};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Router::new().create_server()?;
/// let inherited = InheritedSockets::from_env()?;
/// if inherited.is_empty() {
///     server.listen(3000).await?;
/// } else {
///     server.listen(inherited).await?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Source: `sd_listen_fds(3)`.
#[derive(Debug, Default)]
pub struct InheritedSockets {
    sockets: VecDeque<Inherited>,
}

#[derive(Debug)]
struct Inherited {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

impl InheritedSockets {
    /// Takes over the sockets that the environment names; none if they are for
    /// another process, or if there are none.
    ///
    /// They can be taken once: `LISTEN_FDS` and `LISTEN_PID` are removed from the
    /// environment, so that programs that this one starts do not take them for
    /// theirs. Call it early, before threads run that may read the environment by
    /// other means than the standard library.
    ///
    /// # Errors
    /// Fails when one of them is no listening socket of TCP or Unix, and when
    /// `LISTEN_FDNAMES` has another number of names.
    pub fn from_env() -> Result<Self, ServeError> {
        let names = env::var("LISTEN_FDNAMES").ok();
        let fds = ListenFd::from_env();
        take(fds, names.as_deref()).map_err(|source| ServeError::Inherited { source })
    }

    /// Returns the number of sockets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    /// Returns true if there are no sockets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// Takes those with a name out, for a server of their own; it may be none.
    ///
    /// The name is `FileDescriptorName` of the `.socket` unit, as a rule the unit's
    /// own name, such as `app.socket`. A socket without a name is `unknown`.
    #[must_use]
    pub fn take(&mut self, name: &str) -> Self {
        let (taken, left) =
            std::mem::take(&mut self.sockets).into_iter().partition(|it| it.name == name);
        self.sockets = left;
        Self { sockets: taken }
    }

    /// Returns the listeners with their addresses.
    pub(crate) fn open(self) -> Result<(Vec<Bound>, Vec<LocalAddr>), ServeError> {
        if self.sockets.is_empty() {
            let source = io::Error::new(ErrorKind::NotFound, "no sockets were passed");
            return Err(ServeError::Inherited { source });
        }
        let mut all = Vec::new();
        for socket in self.sockets {
            match socket.kind {
                Kind::Tcp(listener) => all.extend(tcp::take(tcp::from_std(listener)?)?.0),
                Kind::Unix(listener) => all.push(unix::from_std(listener)?),
            }
        }
        let local = all.iter().map(|bound| bound.local().clone()).collect();
        Ok((all, local))
    }
}

fn take(mut fds: ListenFd, names: Option<&str>) -> io::Result<InheritedSockets> {
    let count = fds.len();
    let names: Vec<_> = match names {
        Some(names) if count > 0 => names.split(':').collect(),
        _ => vec![UNNAMED; count],
    };
    if names.len() != count {
        let text = format!("LISTEN_FDNAMES has {} names for {count} sockets", names.len());
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    }
    let mut sockets = VecDeque::new();
    for (index, name) in names.into_iter().enumerate() {
        let kind = match fds.take_tcp_listener(index) {
            Ok(Some(listener)) => Kind::Tcp(listener),
            // No TCP, or taken by other code before.
            _ => match fds.take_unix_listener(index)? {
                Some(listener) => Kind::Unix(listener),
                None => continue,
            },
        };
        if !listens(&kind)? {
            let text = format!("the socket {name} was passed without listening on it");
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        sockets.push_back(Inherited { name: name.to_owned(), kind });
    }
    Ok(InheritedSockets { sockets })
}

/// Returns true if clients can connect. Where the system does not tell, they are
/// taken to.
fn listens(kind: &Kind) -> io::Result<bool> {
    let socket = match kind {
        Kind::Tcp(listener) => SockRef::from(listener),
        Kind::Unix(listener) => SockRef::from(listener),
    };
    #[cfg(any(target_os = "android", target_os = "freebsd", target_os = "linux"))]
    return socket.is_listener();
    #[cfg(not(any(target_os = "android", target_os = "freebsd", target_os = "linux")))]
    Ok(socket.local_addr().is_ok())
}

/// The name of a socket without one.
const UNNAMED: &str = "unknown";
