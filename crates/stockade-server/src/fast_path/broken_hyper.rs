//! Tests that the check of the linked hyper finds each broken [`Assumption`].
//!
//! [`Altered`] is between hyper and the socket, and makes hyper look like a
//! version with another behavior. `cargo xtask hyper --patched` changes hyper
//! itself.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Assumption;
use super::head_writer::CONTINUE;
use super::probe_socket::ProbeSocket;

/// Another behavior of hyper.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Change {
    /// None, like the linked hyper.
    Nothing,
    /// Flushes between two writes of one response.
    FlushBetweenWrites,
    /// Writes the start of a head in a separate piece.
    SplitHead,
    /// Writes an interim response before each head.
    InterimHead,
    /// Reads more than the last request.
    ReadAhead,
    /// Flushes only after a write.
    FlushAfterWritesOnly,
    /// Does not read.
    NoRead,
}

/// Each change with the assumptions that it breaks.
pub(super) const CHANGES: &[(Change, &[Assumption])] = &[
    (Change::Nothing, &[]),
    (Change::FlushBetweenWrites, &[Assumption::FlushAfterAll]),
    (Change::SplitHead, &[Assumption::HeadAfterFlush]),
    (Change::InterimHead, &[Assumption::HeadAfterFlush]),
    (Change::ReadAhead, &[Assumption::NothingReadAhead]),
    (Change::FlushAfterWritesOnly, &[Assumption::FlushInEachPoll]),
    (Change::NoRead, &[Assumption::ServesInMemory]),
];

/// A socket of a changed hyper.
#[derive(Debug)]
pub(super) struct Altered {
    socket: ProbeSocket,
    change: Change,
    /// The number of writes that accepted bytes since the last flush.
    writes: usize,
    has_read_ahead: bool,
}

impl Altered {
    pub(super) fn new(socket: ProbeSocket, change: Change) -> Self {
        Self { socket, change, writes: 0, has_read_ahead: false }
    }

    fn write(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let first: &[u8] = &bufs[0];
        let mut socket = Pin::new(&mut self.socket);
        let is_head = self.writes == 0 && first.starts_with(b"HTTP/1.1") && first != CONTINUE;
        let written = match self.change {
            Change::SplitHead if is_head => socket.poll_write(cx, &first[..5]),
            Change::FlushBetweenWrites => {
                socket.as_mut().poll_write(cx, &first[..first.len().min(900)])
            }
            Change::InterimHead if is_head => {
                let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n";
                let count = ready!(socket.as_mut().poll_write(cx, interim))?;
                assert_eq!(count, interim.len());
                self.writes += 1;
                return self.write(cx, bufs);
            }
            _ => socket.poll_write_vectored(cx, bufs),
        };
        let count = ready!(written)?;
        self.writes += 1;
        let all: usize = bufs.iter().map(|buf| buf.len()).sum();
        if self.change == Change::FlushBetweenWrites && count < all {
            return Pin::new(&mut self.socket).poll_flush(cx).map_ok(|()| count);
        }
        Poll::Ready(Ok(count))
    }
}

impl AsyncRead for Altered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.change == Change::NoRead {
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.socket).poll_read(cx, buf);
        if self.change == Change::ReadAhead && polled.is_pending() && !self.has_read_ahead {
            self.has_read_ahead = true;
            buf.put_slice(b"GE");
            return Poll::Ready(Ok(()));
        }
        polled
    }
}

impl AsyncWrite for Altered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let writes = std::mem::take(&mut self.writes);
        if self.change == Change::FlushAfterWritesOnly && writes == 0 {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
