//! [`Rewind`]: a connection with bytes that are read a second time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::forward::forward_write;

/// A connection, preceded by bytes that are read again.
#[derive(Debug)]
pub(crate) struct Rewind<T> {
    prefix: Bytes,
    io: T,
}

impl<T> Rewind<T> {
    pub(crate) fn new(io: T) -> Self {
        Self { prefix: Bytes::new(), io }
    }

    /// Returns the inner connection, without the bytes to be read again.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.io
    }

    /// Returns the inner connection. Bytes to be read again are lost.
    #[cfg(feature = "tls")]
    pub(crate) fn into_inner(self) -> T {
        self.io
    }

    /// Puts bytes back before all unread bytes.
    pub(crate) fn rewind(&mut self, bytes: Bytes) {
        // An empty slice would retain its whole buffer.
        if bytes.is_empty() {
            return;
        }
        self.prefix = if self.prefix.is_empty() {
            bytes
        } else {
            [&bytes[..], &self.prefix[..]].concat().into()
        };
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Rewind<T> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.prefix.is_empty() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let count = self.prefix.len().min(buf.remaining());
        buf.put_slice(&self.prefix[..count]);
        self.prefix.advance(count);
        if self.prefix.is_empty() {
            // An empty slice would retain its whole buffer.
            self.prefix = Bytes::new();
        }
        Poll::Ready(Ok(()))
    }
}

forward_write!(Rewind);

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn returned_bytes_come_first_and_in_order() {
        let mut io = Rewind::new(&b"ef"[..]);
        io.rewind(Bytes::from_static(b"cd"));
        io.rewind(Bytes::from_static(b"ab"));
        assert_eq!(io.read_u8().await.unwrap(), b'a');
        let mut rest = String::new();
        io.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "bcdef");
    }
}
