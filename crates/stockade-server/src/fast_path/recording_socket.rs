//! An in-memory socket for the tests in this folder.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A write or flush call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Call {
    /// The bytes that the socket accepted.
    Write(Vec<u8>),
    Flush,
}

/// The state of a [`RecordingSocket`], shared with the test.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The bytes that can be read.
    pub(super) input: Vec<u8>,
    pub(super) calls: Vec<Call>,
}

impl Script {
    /// Returns all bytes that the socket accepted.
    pub(super) fn written(&self) -> Vec<u8> {
        written(&self.calls)
    }
}

/// Returns the bytes of these calls.
pub(super) fn written(calls: &[Call]) -> Vec<u8> {
    let bytes = calls.iter().map(|call| match call {
        Call::Write(bytes) => bytes.as_slice(),
        Call::Flush => &[],
    });
    bytes.collect::<Vec<_>>().concat()
}

/// A socket that accepts a limited number of bytes at a time and blocks every
/// second time, or accepts everything at once for `usize::MAX`.
#[derive(Debug)]
pub(super) struct RecordingSocket {
    script: Arc<Mutex<Script>>,
    most: usize,
    is_vectored: bool,
    waits: bool,
}

impl RecordingSocket {
    pub(super) fn new(most: usize, is_vectored: bool) -> (Self, Arc<Mutex<Script>>) {
        let script = Arc::<Mutex<Script>>::default();
        (Self { script: Arc::clone(&script), most, is_vectored, waits: false }, script)
    }
}

impl AsyncRead for RecordingSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut script = self.script.lock().unwrap();
        if script.input.is_empty() {
            return Poll::Pending;
        }
        let count = script.input.len().min(buf.remaining());
        buf.put_slice(&script.input.drain(..count).collect::<Vec<_>>());
        Poll::Ready(Ok(()))
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
        self.script.lock().unwrap().calls.push(Call::Write(buf[..count].to_vec()));
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
        self.is_vectored
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.script.lock().unwrap().calls.push(Call::Flush);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
