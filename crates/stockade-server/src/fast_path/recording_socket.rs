//! An in-memory socket for the tests of `head_writer`.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket that accepts a limited number of bytes at a time and blocks every
/// second time, or accepts everything at once for `usize::MAX`. It records the
/// bytes. It has nothing to read.
#[derive(Debug)]
pub(super) struct RecordingSocket {
    written: Arc<Mutex<Vec<u8>>>,
    most: usize,
    waits: bool,
}

impl RecordingSocket {
    pub(super) fn new(most: usize) -> (Self, Arc<Mutex<Vec<u8>>>) {
        let written = Arc::<Mutex<Vec<u8>>>::default();
        (Self { written: Arc::clone(&written), most, waits: false }, written)
    }
}

impl AsyncRead for RecordingSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for RecordingSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.waits = !self.waits;
        if self.waits && self.most < usize::MAX {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = buf.len().min(self.most);
        self.written.lock().unwrap().extend_from_slice(&buf[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.as_mut().poll_write(cx, &all)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
