//! [`Listener`]: accepts connections of any kind. [`Bound`]: an open listener
//! of a server, including TCP and Unix.

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

/// A source of connections of any kind: a pipe, a virtual socket, or a port
/// with a custom protocol below HTTP.
///
/// All rules of the server also apply to a custom listener: the limits for
/// heads, bodies, connections and slow clients, `Host` and framing, TLS,
/// WebSockets and the shutdown. Three features require a system socket:
///
/// - The TCP options (`tcp_nodelay`, `tcp_notsent_lowat`, `tcp_send_buffer`,
///   keep-alive). Set them on the inner socket, if there is one.
/// - Detecting a disconnected client without reading. The server reads instead,
///   which costs one buffer per request.
/// - Detecting slow readers. The server sees only the results of
///   [`poll_write`](AsyncWrite::poll_write).
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
    note = "use a port (`3000`), an address (`\"0.0.0.0:3000\"`), a `TcpListener`, a `UnixSocket`, `Listeners` for several, or a type that implements `Listener`"
)]
pub trait Listener: Send + 'static {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for the next connection. Returns it with the client's address, if
    /// it has one; otherwise see [`LocalPeer`](stockade_core::LocalPeer).
    ///
    /// Only one connection is accepted at a time. Do not run a handshake here,
    /// but in the first reads of the connection, which the server's time limit
    /// for a head covers: use [`Handshake`](crate::Handshake). The future is
    /// dropped when the server stops listening.
    ///
    /// # Errors
    /// Fails if a connection cannot be accepted. The server logs the error and
    /// calls this again: immediately if the error concerns one client
    /// (`ConnectionReset`, `ConnectionAborted`, `ConnectionRefused`,
    /// `Interrupted`), otherwise after a pause.
    fn accept(&mut self)
    -> impl Future<Output = io::Result<(Self::Io, Option<SocketAddr>)>> + Send;

    /// Returns the address for the log and for
    /// [`BoundServer`](crate::BoundServer).
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

/// An open listener of a server. It closes on drop.
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

    /// Takes over a listener. Its socket file is removed when the listener is
    /// dropped.
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
        // The file is removed first: a process that binds the path from here on
        // keeps its file.
        if let Source::Unix(_, file) = &mut self.source {
            drop(file.take());
        }
    }
}
