//! [`TrackedStream`]: the socket of a connection, which records transferred
//! bytes.

use std::io::{self, ErrorKind, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use stockade_core::PeerCredentials;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::clients::{Admission, Capacity};
use crate::connection_record::ConnectionRecord;
use crate::registry::Registration;
use crate::socket::Socket;

/// A socket that records in its [`ConnectionRecord`] when bytes arrive, and
/// when the client accepts none. The connection counts as open until this is
/// dropped.
#[derive(Debug)]
pub(crate) struct TrackedStream {
    stream: Socket,
    record: Arc<ConnectionRecord>,
    /// True if this notices a client that closes while its response is pending.
    watches: bool,
    /// True if a client that has only closed its sending side counts as
    /// connected.
    half_close: bool,
    /// True if a peek cannot show anything new: the client has sent more while
    /// its response is pending, or has closed its sending side, which is
    /// allowed.
    is_settled: bool,
    registration: Registration,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl TrackedStream {
    pub(crate) fn new(
        stream: impl Into<Socket>,
        record: Arc<ConnectionRecord>,
        registration: Registration,
    ) -> Self {
        let stream = stream.into();
        Self { stream, record, watches: false, half_close: false, is_settled: false, registration }
    }

    /// Returns the remaining capacity for connections.
    pub(crate) fn capacity(&self) -> Capacity {
        self.registration.capacity()
    }

    /// Counts the connection for its client once the client is known. See
    /// [`Registration::identify`].
    pub(crate) fn identify(&mut self, client: Option<IpAddr>, now: Instant) -> Admission {
        self.registration.identify(client, now)
    }

    /// Returns the peer process, if the system reports it.
    pub(crate) fn credentials(&self) -> Option<PeerCredentials> {
        self.stream.credentials()
    }

    /// Returns true if [`watch`](Self::watch) has an effect. Otherwise reading
    /// detects a client that closes.
    pub(crate) fn can_peek(&self) -> bool {
        self.stream.can_peek()
    }

    /// From now on, notices a client that closes while its response is pending.
    /// hyper ends each round with a flush, and that flush then fails.
    ///
    /// hyper can also detect this (`half_close`): it reads into its buffer for
    /// the next request. That allocates a new buffer per request, because the
    /// request still holds the old one, and costs a tenth of a request. Only a
    /// request that must wait needs it.
    ///
    /// With `half_close`, the client may close its sending side; only a reset
    /// then shows that it has disconnected.
    pub(crate) fn watch(&mut self, half_close: bool) {
        self.watches = true;
        self.half_close = half_close;
    }

    /// Fails if the client has closed.
    #[cold]
    fn look(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.stream.poll_peek(cx) {
            Poll::Ready(Ok(0)) if !self.half_close => {
                Err(io::Error::new(ErrorKind::UnexpectedEof, "the client disconnected"))
            }
            Poll::Ready(Ok(_)) => {
                self.is_settled = true;
                Ok(())
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Ok(()),
        }
    }

    /// Reads the first bytes until they distinguish HTTP/2 from HTTP/1, and
    /// returns them to be read again.
    pub(crate) async fn sniff(&mut self) -> io::Result<(Protocol, Bytes)> {
        let mut begin = [0; PREFACE.len()];
        let mut length = 0;
        std::future::poll_fn(|cx| {
            loop {
                let mut rest = ReadBuf::new(&mut begin[length..]);
                ready!(Pin::new(&mut self.stream).poll_read(cx, &mut rest))?;
                let count = rest.filled().len();
                length += count;
                self.record.bytes_came();
                let seen = &begin[..length];
                let protocol = if count == 0 || !PREFACE.starts_with(seen) {
                    Protocol::Http1
                } else if seen.len() == PREFACE.len() {
                    Protocol::Http2
                } else {
                    continue;
                };
                return Poll::Ready(Ok((protocol, Bytes::copy_from_slice(seen))));
            }
        })
        .await
    }

    /// Records the outcome of writing `bufs`.
    ///
    /// Occasionally tries to write to a blocked socket even if the system does
    /// not report it as ready. Linux reports a socket as ready when a third of
    /// its buffer is free, which may be a megabyte. That takes minutes with a
    /// slow client, which would look as if it accepted nothing.
    fn wrote(
        &self,
        outcome: Poll<io::Result<usize>>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(count)) => self.record.bytes_went(*count),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                if self.record.bytes_wait()
                    && let Ok(count @ 1..) = self.stream.write_unready(bufs)
                {
                    self.record.bytes_went(count);
                    return Poll::Ready(Ok(count));
                }
            }
        }
        outcome
    }
}

impl Drop for TrackedStream {
    fn drop(&mut self) {
        if self.record.resets() {
            // The system would otherwise hold megabytes for a client that does
            // not read them.
            self.stream.reset_on_drop();
        }
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.is_settled = false;
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.record.bytes_came();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(outcome, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(outcome, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.watches && !self.is_settled && self.record.is_unwatched() {
            self.look(cx)?;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The connection preface of HTTP/2 clients.
///
/// Source: RFC 9113, section 3.4.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
