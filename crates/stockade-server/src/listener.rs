//! [`Listener`]: an acceptor of connections of any kind; [`Bound`]: one of a
//! server, of TCP and Unix too.

use std::net::SocketAddr;
use std::{fmt, io};

use stockade_core::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;

use crate::LocalAddr;
use crate::socket::Socket;
#[cfg(unix)]
use crate::unix::SocketFile;

/// An acceptor of connections of any kind: a pipe, a virtual socket, a port
/// behind a protocol of its own.
///
/// A server that listens on one keeps all its rules: the limits of heads, bodies
/// and connections, the time that slow clients have, `Host` and framing, TLS,
/// WebSockets and the shutdown. Three things come from the system's own sockets
/// alone, so that such a connection does without:
///
/// - The options of TCP (`tcp_nodelay`, `tcp_notsent_lowat`, `tcp_send_buffer`,
///   keep-alive). Set them on the socket inside, if there is one.
/// - A client that leaves is noticed by reading, which costs a buffer for each
///   request.
/// - Of a client that reads slowly the server sees only what
///   [`poll_write`](AsyncWrite::poll_write) reports.
///
/// ```
/// use std::io;
/// use std::net::SocketAddr;
///
/// use stockade::Router;
/// use stockade::server::{CreateServer, Listener, LocalAddr};
/// use tokio::io::DuplexStream;
/// use tokio::sync::mpsc;
///
/// /// Connections within this process.
/// struct Pipes(mpsc::Receiver<DuplexStream>);
///
/// impl Listener for Pipes {
///     type Io = DuplexStream;
///
///     async fn accept(&mut self) -> io::Result<(DuplexStream, Option<SocketAddr>)> {
///         match self.0.recv().await {
///             Some(pipe) => Ok((pipe, None)),
///             None => std::future::pending().await,
///         }
///     }
///
///     fn local_addr(&self) -> LocalAddr {
///         LocalAddr::Other("pipes".to_owned())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (clients, pipes) = mpsc::channel(8);
/// let server = Router::new().create_server()?.bind(Pipes(pipes)).await?;
/// # drop((clients, server));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a server cannot listen on a `{Self}`",
    label = "not a port, an address, a listener or a type with `Listener`",
    note = "give a port (`3000`), an address (`\"0.0.0.0:3000\"`), a `TcpListener`, a \
            `UnixSocket`, `Listeners` for several, or a type that implements `Listener`"
)]
pub trait Listener: Send + 'static {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for the next connection, and returns it with the client's address, if
    /// it has one; without one see [`LocalPeer`](stockade_core::LocalPeer).
    ///
    /// Only one connection is accepted at a time. So a handshake of its own does
    /// not belong here, but into the first reads of the connection, where the
    /// server's time for a head bounds it: [`Handshake`](crate::Handshake) does that.
    /// The future is dropped when the server stops listening.
    ///
    /// # Errors
    /// Fails when a connection cannot be accepted. The server logs the error and
    /// calls this again: at once if the error is about one client (`ConnectionReset`,
    /// `ConnectionAborted`, `ConnectionRefused`, `Interrupted`), else after a while.
    fn accept(&mut self)
    -> impl Future<Output = io::Result<(Self::Io, Option<SocketAddr>)>> + Send;

    /// Returns the address, for the log and for [`BoundServer`](crate::BoundServer).
    fn local_addr(&self) -> LocalAddr;
}

/// A [`Listener`] of any type.
pub(crate) trait AnyListener: Send {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Socket, Option<SocketAddr>)>>;
}

impl<L: Listener> AnyListener for L {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Socket, Option<SocketAddr>)>> {
        Box::pin(async {
            let (io, address) = Listener::accept(self).await?;
            Ok((Socket::Own(Box::new(io)), address))
        })
    }
}

/// An open listener of a server. Dropping it closes it.
#[expect(unnameable_types, reason = "only a sealed trait names it")]
pub struct Bound {
    source: Source,
    local: LocalAddr,
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.local.fmt(f)
    }
}

enum Source {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, Option<SocketFile>),
    Own(Box<dyn AnyListener>),
}

impl Bound {
    pub(crate) fn tcp(listener: TcpListener) -> io::Result<Self> {
        let local = LocalAddr::Tcp(listener.local_addr()?);
        Ok(Self { source: Source::Tcp(listener), local })
    }

    /// Takes over a listener; the file is removed with it.
    #[cfg(unix)]
    pub(crate) fn unix(listener: UnixListener, file: Option<SocketFile>) -> io::Result<Self> {
        let local = match &file {
            Some(file) => LocalAddr::Unix(file.path().to_owned()),
            None => LocalAddr::of_unix(&listener.local_addr()?),
        };
        Ok(Self { source: Source::Unix(listener, file), local })
    }

    pub(crate) fn own(listener: impl Listener) -> Self {
        let local = listener.local_addr();
        Self { source: Source::Own(Box::new(listener)), local }
    }

    pub(crate) fn local(&self) -> &LocalAddr {
        &self.local
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&mut self) -> io::Result<(Socket, Option<SocketAddr>)> {
        match &mut self.source {
            Source::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((Socket::Tcp(stream), Some(address)))
            }
            #[cfg(unix)]
            Source::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), None))
            }
            Source::Own(listener) => listener.accept().await,
        }
    }
}

#[cfg(unix)]
impl Drop for Bound {
    fn drop(&mut self) {
        // The file first: a process that takes the path from here on keeps it.
        if let Source::Unix(_, file) = &mut self.source {
            drop(file.take());
        }
    }
}
