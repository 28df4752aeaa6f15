//! [`GuardedIo`]: a connection of HTTP/1 whose requests are followed by a
//! [`Guard`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::forward::forward_write;
use crate::guard::Guard;

/// A connection that begins with a request, as hyper is to see it: instead of
/// what the [`Guard`] refuses, it reads [`INVALID`] and the end.
///
/// So the refusal has its place among the requests: what came before it is
/// answered, and the 400 is that of hyper, or of the handler that reads the
/// body.
#[derive(Debug)]
pub(crate) struct GuardedIo<T> {
    io: T,
    guard: Guard,
    refused: Option<Box<Refused>>,
}

#[derive(Debug)]
struct Refused {
    /// The bytes that were read, from the first wrong one on.
    bytes: Bytes,
    /// The part of [`INVALID`] that has been given in their place.
    given: usize,
}

impl<T> GuardedIo<T> {
    pub(crate) fn new(io: T) -> Self {
        Self { io, guard: Guard::new(), refused: None }
    }

    /// The connection, and what came from it and was not used. `read` is that
    /// part of it that has been given out.
    pub(crate) fn into_parts(self, read: Bytes) -> (T, Bytes) {
        let Some(refused) = self.refused else { return (self.io, read) };
        // It was refused as a request, which it may not be any more.
        let good = &read[..read.len().saturating_sub(refused.given)];
        (self.io, [good, &refused.bytes].concat().into())
    }

    /// Keeps what is wrong, from the byte at `from` on.
    #[cold]
    fn refuse(&mut self, buf: &mut ReadBuf<'_>, from: usize) {
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
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.io).poll_read(cx, buf))?;
        if let Err(good) = this.guard.read(&buf.filled()[before..]) {
            this.refuse(buf, before + good);
        }
        Poll::Ready(Ok(()))
    }
}

forward_write!(GuardedIo);

/// Bytes that hyper refuses wherever the [`Guard`] does: in a head a CR without LF,
/// in a chunked body one where no chunk or line may end. hyper looks at the
/// beginning of a head again only when an empty line has come.
const INVALID: &[u8] = b"\r\0\r\n\r\n";
