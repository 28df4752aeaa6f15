//! [`ProbeSocket`]: an in-memory socket that records hyper's calls.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use stockade_errors::locks::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::observer::Observer;

/// The limits of a [`ProbeSocket`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// The maximum number of bytes per write. A socket with a limit also blocks
    /// every second write.
    pub(super) most: usize,
    /// Accepts several pieces at once.
    pub(super) is_vectored: bool,
}

/// A socket that reports each call to an [`Observer`].
#[derive(Debug)]
pub(super) struct ProbeSocket {
    observer: Arc<Mutex<Observer>>,
    manner: Manner,
    waits: bool,
}

impl ProbeSocket {
    pub(super) fn new(observer: Arc<Mutex<Observer>>, manner: Manner) -> Self {
        Self { observer, manner, waits: false }
    }

    /// Writes bytes. `first` is their first piece.
    fn write(&mut self, cx: &Context<'_>, first: &[u8], bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut observer = lock(&self.observer);
        observer.offer(first);
        self.waits = !self.waits && self.manner.most < usize::MAX;
        if self.waits {
            observer.block();
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = bytes.len().min(self.manner.most);
        observer.accept(&bytes[..count]);
        Poll::Ready(Ok(count))
    }
}

impl AsyncRead for ProbeSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut observer = lock(&self.observer);
        if observer.input.is_empty() {
            return Poll::Pending;
        }
        let count = observer.input.len().min(buf.remaining());
        buf.put_slice(&observer.input[..count]);
        observer.input.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ProbeSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, buf, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = bufs.iter().flat_map(|buf| buf.iter().copied());
        let all: Vec<u8> = all.take(self.manner.most).collect();
        self.write(cx, bufs.first().map_or(&[], |first| first), &all)
    }

    fn is_write_vectored(&self) -> bool {
        self.manner.is_vectored
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        lock(&self.observer).flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
