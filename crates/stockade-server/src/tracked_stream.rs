//! [`TrackedStream`]: the socket of a connection, watched.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, Socket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::clients::Capacity;
use crate::connection_record::ConnectionRecord;
use crate::registry::Registration;

/// A socket that notes in its [`ConnectionRecord`] when bytes come and when the client
/// takes none. The connection counts as open as long as this lives.
#[derive(Debug)]
pub(crate) struct TrackedStream {
    stream: TcpStream,
    record: Arc<ConnectionRecord>,
    /// Whether a client that leaves while its answer is made is noticed here.
    watches: bool,
    /// While an answer is made the client has sent more, so that its end is not
    /// in sight.
    has_more: bool,
    registration: Registration,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl TrackedStream {
    pub(crate) fn new(
        stream: TcpStream,
        record: Arc<ConnectionRecord>,
        registration: Registration,
    ) -> Self {
        Self { stream, record, watches: false, has_more: false, registration }
    }

    /// The room that is left for connections.
    pub(crate) fn capacity(&self) -> Capacity {
        self.registration.capacity()
    }

    /// From now on notices a client that leaves while its answer is made, by an
    /// error of the flush that hyper ends each of its rounds with.
    ///
    /// hyper can do it (`half_close`), by a read into its buffer for the next
    /// request: for each request it takes a new one, because this one still
    /// holds the old. That is a tenth of what a request costs, and only a
    /// request that has to wait needs it.
    pub(crate) fn watch(&mut self) {
        self.watches = true;
    }

    /// Fails when the client has left.
    #[cold]
    fn look(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let mut byte = [0];
        match self.stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
            Poll::Ready(Ok(0)) => Err(io::Error::new(ErrorKind::UnexpectedEof, "the client left")),
            Poll::Ready(Ok(_)) => {
                self.has_more = true;
                Ok(())
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Ok(()),
        }
    }

    /// Reads as much of the beginning as tells HTTP/2 from HTTP/1, and gives it
    /// back to be read again.
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

    /// Notes what became of a write; `again` is the same write without a word of
    /// the system that the socket is ready.
    ///
    /// Linux wakes a writer when a third of a buffer is free, which may be a
    /// megabyte: a slow client takes minutes for that, and would look like one
    /// that takes nothing.
    fn wrote(
        &self,
        outcome: Poll<io::Result<usize>>,
        again: impl FnOnce(&Socket) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(count)) => self.record.bytes_went(*count),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                if self.record.bytes_wait()
                    && let Ok(count @ 1..) = again(&SockRef::from(&self.stream))
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
            // Else the system would keep megabytes for a client that does not
            // read them. If it cannot, it does what it always does.
            let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.has_more = false;
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
        self.wrote(outcome, |socket| socket.send_with_flags(buf, NO_SIGNAL))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(outcome, |socket| socket.send_vectored_with_flags(bufs, NO_SIGNAL))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.watches && !self.has_more && self.record.is_unwatched() {
            self.look(cx)?;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A client that has gone makes an error and no signal: `MSG_NOSIGNAL`, which
/// the standard library sends with, too.
const NO_SIGNAL: i32 =
    if cfg!(any(target_os = "linux", target_os = "android")) { 0x4000 } else { 0 };

/// How a client that speaks HTTP/2 begins.
///
/// Source: RFC 9113, section 3.4.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
