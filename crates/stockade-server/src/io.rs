//! [`Io`]: the socket of a connection, watched.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::record::Record;
use crate::sweep::Membership;

/// A socket that notes in its [`Record`] when bytes come and when the client
/// takes none. The connection counts as open as long as this lives.
#[derive(Debug)]
pub(crate) struct Io {
    stream: TcpStream,
    record: Arc<Record>,
    /// The beginning that [`sniff`](Self::sniff) has read, and what of it has
    /// not been given out yet.
    ahead: [u8; PREFACE.len()],
    ahead_start: usize,
    ahead_end: usize,
    _membership: Membership,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl Io {
    pub(crate) fn new(stream: TcpStream, record: Arc<Record>, membership: Membership) -> Self {
        let ahead = [0; PREFACE.len()];
        Self { stream, record, ahead, ahead_start: 0, ahead_end: 0, _membership: membership }
    }

    /// Reads as much of the beginning as tells HTTP/2 from HTTP/1. It is read
    /// again by whoever comes next.
    pub(crate) async fn sniff(&mut self) -> io::Result<Protocol> {
        std::future::poll_fn(|cx| {
            loop {
                let begin = self.ahead_end;
                let mut rest = ReadBuf::new(&mut self.ahead[begin..]);
                ready!(Pin::new(&mut self.stream).poll_read(cx, &mut rest))?;
                let count = rest.filled().len();
                self.ahead_end += count;
                self.record.bytes_came();
                let seen = &self.ahead[..self.ahead_end];
                if count == 0 || !PREFACE.starts_with(seen) {
                    return Poll::Ready(Ok(Protocol::Http1));
                }
                if seen.len() == PREFACE.len() {
                    return Poll::Ready(Ok(Protocol::Http2));
                }
            }
        })
        .await
    }

    fn wrote<T>(&self, outcome: Poll<T>) -> Poll<T> {
        self.record.bytes_went(outcome.is_pending());
        outcome
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead_start < self.ahead_end {
            let ahead = &self.ahead[self.ahead_start..self.ahead_end];
            let count = ahead.len().min(buf.remaining());
            buf.put_slice(&ahead[..count]);
            self.ahead_start += count;
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.record.bytes_came();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// How a client that speaks HTTP/2 begins.
///
/// Source: RFC 9113, section 3.4.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
