//! [`GuardedIo`]: an HTTP/1 connection with a [`Guard`] that checks its bytes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection_record::ConnectionRecord;
use crate::forward::forward_write;
use crate::guard::Guard;

/// The connection that hyper reads, starting at the beginning of a request.
/// Instead of bytes that the [`Guard`] rejects, hyper reads [`INVALID`] and
/// then the end.
///
/// The rejection thus keeps its position in the order of requests: earlier
/// requests get their responses, and the 400 comes from hyper, or from the
/// handler that reads the body.
#[derive(Debug)]
pub(crate) struct GuardedIo<T> {
    io: T,
    guard: Guard,
    record: Arc<ConnectionRecord>,
    refused: Option<Box<Refused>>,
}

#[derive(Debug)]
struct Refused {
    /// The bytes read, starting with the first rejected one.
    bytes: Bytes,
    /// The number of bytes of [`INVALID`] that hyper has read instead.
    given: usize,
}

impl<T> GuardedIo<T> {
    /// Wraps a connection. The guard continues after the bytes that it has
    /// already read.
    pub(crate) fn new(io: T, guard: Guard, record: Arc<ConnectionRecord>) -> Self {
        Self { io, guard, record, refused: None }
    }

    /// Returns the connection and its guard, which has read all bytes from the
    /// connection.
    pub(crate) fn into_io_and_guard(self) -> (T, Guard) {
        (self.io, self.guard)
    }

    /// Returns the connection and the unused bytes read from it. `read`
    /// contains the bytes that hyper has read.
    pub(crate) fn into_parts(self, read: Bytes) -> (T, Bytes) {
        let Some(refused) = self.refused else { return (self.io, read) };
        // The bytes were rejected as a request, but now belong to another
        // protocol.
        let good = &read[..read.len().saturating_sub(refused.given)];
        (self.io, [good, &refused.bytes].concat().into())
    }

    /// Rejects the bytes from `from` on, and stores them.
    #[cold]
    fn refuse(&mut self, buf: &mut ReadBuf<'_>, from: usize) {
        self.record.http1.exchanges.pin();
        let bytes = Bytes::copy_from_slice(&buf.filled()[from..]);
        buf.set_filled(from);
        let refused = self.refused.insert(Box::new(Refused { bytes, given: 0 }));
        refused.give(buf);
    }
}

impl Refused {
    fn give(&mut self, buf: &mut ReadBuf<'_>) {
        let rest = &INVALID[self.given..];
        let count = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..count]);
        self.given += count;
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for GuardedIo<T> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(refused) = &mut this.refused {
            refused.give(buf);
            return Poll::Ready(Ok(()));
        }
        let mut from = buf.filled().len();
        ready!(Pin::new(&mut this.io).poll_read(cx, buf))?;
        while let Err(good) = this.guard.read(&buf.filled()[from..]) {
            from += good;
            if !this.guard.is_length_excess() {
                this.refuse(buf, from);
                break;
            }
            buf.filled_mut()[from] = b' ';
            from += 1;
        }
        this.record.http1.exchanges.received(this.guard.ended(), this.guard.part());
        Poll::Ready(Ok(()))
    }
}

forward_write!(GuardedIo);

/// Bytes that hyper rejects wherever the [`Guard`] does: in a head, a CR
/// without LF; in a chunked body, a CR at a position that cannot end a chunk or
/// line. It ends with an empty line, because hyper parses an incomplete head
/// again only after one.
const INVALID: &[u8] = b"\r\0\r\n\r\n";
