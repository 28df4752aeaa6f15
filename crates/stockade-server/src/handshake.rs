//! [`Handshake`]: a connection of a custom [`Listener`](crate::Listener) that
//! performs its handshake in the first read.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, mem};

use stockade_core::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that begins with a custom handshake, such as another TLS
/// library's. Use it as the [`Io`](crate::Listener::Io) of a
/// [`Listener`](crate::Listener).
///
/// The handshake runs in the first read. A slow handshake therefore delays no
/// other client. It must finish within
/// [`header_read_timeout`](crate::ServerOptions::header_read_timeout), which
/// includes the first head. A failure ends the connection and is logged at
/// debug level.
///
/// ```
/// use std::io;
/// use std::net::SocketAddr;
///
/// use stockade::server::{Handshake, Listener, LocalAddr};
/// use tokio::io::AsyncReadExt as _;
/// use tokio::net::{TcpListener, TcpStream};
///
/// /// Connections that begin with four bytes.
/// struct Greeted(TcpListener);
///
/// async fn greet(mut stream: TcpStream) -> io::Result<TcpStream> {
///     let mut greeting = [0; 4];
///     stream.read_exact(&mut greeting).await?;
///     if &greeting == b"open" { Ok(stream) } else { Err(io::ErrorKind::InvalidData.into()) }
/// }
///
/// impl Listener for Greeted {
///     type Io = Handshake<TcpStream>;
///
///     async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
///         let (stream, client) = self.0.accept().await?;
///         Ok((Handshake::new(greet(stream)), Some(client)))
///     }
///
///     fn local_addr(&self) -> LocalAddr {
///         self.0.local_addr().map_or_else(|error| LocalAddr::Other(error.to_string()), LocalAddr::Tcp)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> io::Result<()> {
/// let listener = Greeted(TcpListener::bind("127.0.0.1:0").await?);
/// assert!(listener.local_addr().tcp().is_some());
/// # Ok(())
/// # }
/// ```
pub struct Handshake<Io> {
    state: State<Io>,
}

enum State<Io> {
    Running(BoxFuture<'static, io::Result<Io>>),
    Done(Io),
    Failed,
}

impl<Io> Handshake<Io> {
    /// Creates a connection from the future that performs the handshake and
    /// returns the resulting stream.
    pub fn new(handshake: impl Future<Output = io::Result<Io>> + Send + 'static) -> Self {
        Self { state: State::Running(Box::pin(handshake)) }
    }
}

impl<Io: Unpin> Handshake<Io> {
    /// Returns the stream once the handshake is done.
    fn poll_stream(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut Io>>> {
        if let State::Running(handshake) = &mut self.state {
            let outcome = ready!(handshake.as_mut().poll(cx));
            // The future is never polled again, whatever the outcome.
            self.state = State::Failed;
            match outcome {
                Ok(stream) => self.state = State::Done(stream),
                Err(error) => {
                    log::debug!(target: "stockade::server", "a handshake failed: {error}");
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(match &mut self.state {
            State::Done(stream) => Ok(Pin::new(stream)),
            State::Running(_) | State::Failed => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

impl<Io> fmt::Debug for Handshake<Io> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Running(_) => "Handshake(running)",
            State::Done(_) => "Handshake(done)",
            State::Failed => "Handshake(failed)",
        })
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Handshake<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_stream(cx))?.poll_read(cx, buf)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Handshake<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_stream(cx))?.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_stream(cx))?.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        matches!(&self.state, State::Done(stream) if stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing was written before the handshake, and a flush does not start
        // it.
        match &mut self.state {
            State::Done(stream) => Pin::new(stream).poll_flush(cx),
            State::Running(_) | State::Failed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.state {
            State::Done(stream) => Pin::new(stream).poll_shutdown(cx),
            // An unfinished handshake ends when its future is dropped.
            State::Running(_) | State::Failed => {
                drop(mem::replace(&mut self.state, State::Failed));
                Poll::Ready(Ok(()))
            }
        }
    }
}
