//! [`Socket`]: an accepted connection of any kind.

use std::mem::MaybeUninit;
use std::pin::Pin;
#[cfg(unix)]
use std::task::ready;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use socket2::SockRef;
use stockade_core::PeerCredentials;
use stockade_core::upgrade::Io;
#[cfg(unix)]
use tokio::io::Interest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// A system socket, or a connection from a custom
/// [`Listener`](crate::Listener).
///
/// This is an enum rather than a type parameter, because hyper's part of a
/// connection should be compiled only once.
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Own(Box<dyn Io>),
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(stream) => stream.fmt(f),
            #[cfg(unix)]
            Self::Unix(stream) => stream.fmt(f),
            Self::Own(_) => f.write_str("Own(..)"),
        }
    }
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

impl Socket {
    /// Returns true if [`poll_peek`](Self::poll_peek) is supported.
    pub(crate) fn can_peek(&self) -> bool {
        !matches!(self, Self::Own(_))
    }

    /// Returns the peer process, if the system reports it.
    pub(crate) fn credentials(&self) -> Option<PeerCredentials> {
        #[cfg(unix)]
        if let Self::Unix(stream) = self {
            let peer = stream.peer_cred().ok()?;
            return Some(PeerCredentials { uid: peer.uid(), gid: peer.gid(), pid: peer.pid() });
        }
        None
    }

    /// Peeks at the next byte; 0 is the end.
    pub(crate) fn poll_peek(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut byte = [MaybeUninit::uninit()];
        match self {
            Self::Tcp(stream) => stream.poll_peek(cx, &mut ReadBuf::uninit(&mut byte)),
            #[cfg(unix)]
            Self::Unix(stream) => loop {
                ready!(stream.poll_read_ready(cx))?;
                let peek = || SockRef::from(&*stream).peek(&mut byte);
                match stream.try_io(Interest::READABLE, peek) {
                    // Spurious readiness; the system reports again.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    outcome => return Poll::Ready(outcome),
                }
            },
            Self::Own(_) => Poll::Pending,
        }
    }

    /// Writes even if the system does not report the socket as ready.
    pub(crate) fn write_unready(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => SockRef::from(stream).send_vectored_with_flags(bufs, NO_SIGNAL),
            #[cfg(unix)]
            Self::Unix(stream) => SockRef::from(stream).send_vectored_with_flags(bufs, NO_SIGNAL),
            Self::Own(_) => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Makes the system discard unsent bytes when this is dropped.
    pub(crate) fn reset_on_drop(&self) {
        if let Self::Tcp(stream) = self {
            // On failure, the socket closes as usual.
            let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
        }
    }
}

/// Calls a method of the stream, whatever its kind.
macro_rules! with_stream {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            #[cfg(unix)]
            Socket::Unix($stream) => $call,
            Socket::Own($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Socket {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, buf))
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        with_stream!(self, stream => stream.is_write_vectored())
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}

/// `MSG_NOSIGNAL`, also used by the standard library: writing to a closed
/// client is an error instead of a signal.
const NO_SIGNAL: i32 =
    if cfg!(any(target_os = "linux", target_os = "android")) { 0x4000 } else { 0 };
