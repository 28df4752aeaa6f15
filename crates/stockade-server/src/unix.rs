//! [`UnixSocket`]: a Unix socket to listen on, by its path.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixListener;

use crate::ServeError;
use crate::listener::Bound;

/// A Unix socket to listen on, by its path.
///
/// A stale socket file, without a process that listens on it, is replaced. Any
/// other file at the path is left unchanged, and so is a socket with a
/// listener: both are errors. When the server stops listening, it removes the
/// file, unless another process has replaced it.
///
/// A connection does not have a client address: see
/// [`LocalPeer`](stockade_core::LocalPeer) for the consequences, and for the
/// `trust_proxy` setting that a proxy in front needs. A handler can get the
/// client process from [`PeerCredentials`](stockade_core::PeerCredentials).
///
/// ```no_run
/// use stockade::Router;
/// use stockade::server::{CreateServer, UnixSocket};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let socket = UnixSocket::new("/run/app/http.sock").mode(0o660);
/// Router::new().listen(socket).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnixSocket {
    path: PathBuf,
    mode: Option<u32>,
}

impl UnixSocket {
    /// Returns the socket at a path. Its directory must exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), mode: None }
    }

    /// Sets the permissions of the socket file, such as `0o660`. They apply
    /// before the first client can connect. On Linux a client needs write
    /// permission to connect. Default: `0o777` without the bits of the
    /// process's umask.
    ///
    /// Some systems ignore the permissions of the file; the permissions of the
    /// directory apply everywhere.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the socket. Its file is removed with the listener.
    pub(crate) fn open(self, backlog: u32) -> Result<Bound, ServeError> {
        // The working directory may have changed when the file is removed.
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let open = || {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
            socket.set_nonblocking(true)?;
            bind(&socket, &path)?;
            let file = SocketFile::new(path.clone())?;
            if let Some(mode) = self.mode {
                fs::set_permissions(&path, Permissions::from_mode(mode))?;
            }
            // From here on clients can connect.
            socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
            let listener = std::os::unix::net::UnixListener::from(socket);
            Bound::unix(UnixListener::from_std(listener)?, Some(file))
        };
        open().map_err(|source| ServeError::BindUnix { path: path.clone(), source })
    }
}

/// Takes over a listener of the standard library.
pub(crate) fn from_std(listener: std::os::unix::net::UnixListener) -> Result<Bound, ServeError> {
    let take = || {
        // tokio would otherwise block in the system call.
        listener.set_nonblocking(true)?;
        Bound::unix(UnixListener::from_std(listener)?, None)
    };
    take().map_err(ServeError::of_listener)
}

/// Binds a socket, and replaces a stale one.
fn bind(socket: &Socket, path: &Path) -> io::Result<()> {
    let address = SockAddr::unix(path)?;
    match socket.bind(&address) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {}
        outcome => return outcome,
    }
    let found = fs::symlink_metadata(path)?;
    if !found.file_type().is_socket() {
        return Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "a file exists at this path, but it is not a socket",
        ));
    }
    let found = identity(&found);
    // Two processes that start simultaneously may both consider the file stale.
    // The later one must not remove the file that the earlier one has created
    // meanwhile.
    if !is_stale(&address)? || identity(&fs::symlink_metadata(path)?) != found {
        return Err(ErrorKind::AddrInUse.into());
    }
    log::info!(
        target: "stockade::server",
        "{} was left by another process and is replaced", path.display()
    );
    fs::remove_file(path)?;
    socket.bind(&address)
}

/// Returns true if no process listens on a socket.
fn is_stale(address: &SockAddr) -> io::Result<bool> {
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A full queue of waiting connections would block.
    probe.set_nonblocking(true)?;
    let refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
    Ok(probe.connect(address).err().is_some_and(refused))
}

/// Returns the device and inode of a file.
fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// A socket file that is removed on drop.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        let identity = identity(&fs::symlink_metadata(&path)?);
        Ok(Self { path, identity })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_own = |file: fs::Metadata| identity(&file) == self.identity;
        if fs::symlink_metadata(&self.path).is_ok_and(is_own)
            && let Err(error) = fs::remove_file(&self.path)
        {
            let path = self.path.display();
            log::warn!(target: "stockade::server", "cannot remove {path}: {error}");
        }
    }
}
