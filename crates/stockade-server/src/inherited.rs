//! [`InheritedSockets`]: listeners passed to the process at its start.

use std::collections::VecDeque;
use std::env;
use std::io::{self, ErrorKind};

use listenfd::ListenFd;
use socket2::SockRef;

use crate::listener::Bound;
use crate::{LocalAddr, ServeError, tcp, unix};

/// Listeners passed to the process at its start by systemd's protocol for
/// socket activation: `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES`.
///
/// The parent process keeps the sockets open. No connection is refused while
/// the program restarts, the program can use a port below 1,024 without
/// privileges, and the first connection may start it. Use a systemd unit
/// `app.socket` next to `app.service`, or `systemfd` during development.
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
    /// The name that selected them from all passed sockets.
    taken_by: Option<String>,
}

#[derive(Debug)]
struct Inherited {
    /// `None` if the environment contains no names.
    name: Option<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

impl InheritedSockets {
    /// Takes over the sockets listed in the environment. The result is empty if
    /// there are none, or if they are for another process.
    ///
    /// This works only once: it removes `LISTEN_FDS` and `LISTEN_PID` from the
    /// environment, because child processes could otherwise take the sockets
    /// for theirs. Call it early, before other threads run that may read the
    /// environment without the standard library.
    ///
    /// # Errors
    /// Fails if a socket is not a listening TCP or Unix socket, if
    /// `LISTEN_FDNAMES` has a different number of names, or if `LISTEN_FDS` or
    /// `LISTEN_PID` is not a number.
    pub fn from_env() -> Result<Self, ServeError> {
        let names = env::var("LISTEN_FDNAMES").ok();
        let taken = check_numbers().and_then(|()| take(ListenFd::from_env(), names.as_deref()));
        taken.map_err(|source| ServeError::Inherited { source })
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

    /// Removes and returns the sockets with this name, for a separate server.
    /// The result may be empty.
    ///
    /// The name is `FileDescriptorName` of the `.socket` unit, by default the
    /// unit's name, such as `app.socket`. A socket without a name is called
    /// `unknown`.
    #[must_use]
    pub fn take(&mut self, name: &str) -> Self {
        let has_name = |it: &Inherited| it.name.as_deref().unwrap_or(UNNAMED) == name;
        let (taken, left) = std::mem::take(&mut self.sockets).into_iter().partition(has_name);
        self.sockets = left;
        Self { sockets: taken, taken_by: Some(name.to_owned()) }
    }

    /// Returns the listeners with their addresses.
    pub(crate) fn open(self) -> Result<(Vec<Bound>, Vec<LocalAddr>), ServeError> {
        if self.sockets.is_empty() {
            let text = match &self.taken_by {
                Some(name) => format!(
                    "no socket with the name {name:?} was passed; set \
                     `FileDescriptorName={name}` in the systemd unit"
                ),
                None => "no sockets were passed".to_owned(),
            };
            let source = io::Error::new(ErrorKind::NotFound, text);
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

/// Fails for invalid numbers in the environment, which must not be mistaken for
/// the absence of sockets.
fn check_numbers() -> io::Result<()> {
    let value = |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let wrong = |name, value, what| {
        let text = format!("{name} is {value:?}, which is not a {what}");
        Err(io::Error::new(ErrorKind::InvalidInput, text))
    };
    let Some(count) = value("LISTEN_FDS") else { return Ok(()) };
    // Without a process id, the sockets are for any process.
    let pid = value("LISTEN_PID").filter(|pid| !pid.is_empty());
    match pid.map(|pid| pid.parse::<u32>().map_err(|_| pid)) {
        Some(Err(pid)) => return wrong("LISTEN_PID", pid, "process id"),
        Some(Ok(pid)) if pid != std::process::id() => return Ok(()),
        _ => {}
    }
    if count.parse::<u16>().is_err() {
        return wrong("LISTEN_FDS", count, "number of sockets");
    }
    Ok(())
}

fn take(mut fds: ListenFd, names: Option<&str>) -> io::Result<InheritedSockets> {
    let count = fds.len();
    let names: Vec<_> = match names {
        Some(names) if count > 0 => names.split(':').map(Some).collect(),
        _ => vec![None; count],
    };
    if names.len() != count {
        let text = format!("LISTEN_FDNAMES has {} names for {count} sockets", names.len());
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    }
    let mut sockets = VecDeque::new();
    for (index, name) in names.into_iter().enumerate() {
        let kind = match fds.take_tcp_listener(index) {
            Ok(Some(listener)) => Kind::Tcp(listener),
            // Not TCP, or other code has already removed it.
            _ => match fds.take_unix_listener(index)? {
                Some(listener) => Kind::Unix(listener),
                None => continue,
            },
        };
        if !listens(&kind)? {
            let which = name.map_or_else(
                || format!("socket {} of {count}, which does not have a name,", index + 1),
                |name| format!("the socket {name:?}"),
            );
            let text = format!(
                "{which} does not listen: it was passed after its connection was accepted \
                 (`Accept=yes` in the systemd unit; write `Accept=no`), or before `listen`"
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        sockets.push_back(Inherited { name: name.map(str::to_owned), kind });
    }
    Ok(InheritedSockets { sockets, taken_by: None })
}

/// Returns true if clients can connect, or if the system does not report it.
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

/// The name of a socket without a name.
const UNNAMED: &str = "unknown";
