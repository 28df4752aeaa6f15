//! [`Rewind`]: a connection of which something is read a second time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::forward::forward_write;

/// A connection, and in front of what comes from it some bytes that came before.
#[derive(Debug)]
pub(crate) struct Rewind<T> {
    prefix: Bytes,
    io: T,
}

impl<T> Rewind<T> {
    pub(crate) fn new(io: T) -> Self {
        Self { prefix: Bytes::new(), io }
    }

    /// The connection itself, to read what comes after the bytes that came
    /// before.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.io
    }

    /// The connection itself; the bytes that came before are lost.
    #[cfg(feature = "tls")]
    pub(crate) fn into_inner(self) -> T {
        self.io
    }

    /// Puts bytes that were read back in front of those that were not.
    pub(crate) fn rewind(&mut self, bytes: Bytes) {
        // An empty slice would keep the memory of what it was cut from.
        if bytes.is_empty() {
            return;
        }
        self.prefix = if self.prefix.is_empty() {
            bytes
        } else {
            [&bytes[..], &self.prefix[..]].concat().into()
        };
    }

    /// Whether there are bytes that came before.
    pub(crate) fn has_prefix(&self) -> bool {
        !self.prefix.is_empty()
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
            // As above.
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
    async fn what_is_given_back_comes_first_and_in_order() {
        let mut io = Rewind::new(&b"ef"[..]);
        io.rewind(Bytes::from_static(b"cd"));
        io.rewind(Bytes::from_static(b"ab"));
        assert_eq!(io.read_u8().await.unwrap(), b'a');
        assert!(io.has_prefix());
        let mut rest = String::new();
        io.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "bcdef");
        assert!(!io.has_prefix());
    }
}
