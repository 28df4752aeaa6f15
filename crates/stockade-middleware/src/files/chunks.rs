//! [`FileChunks`]: the bytes of a file, read as they are sent.

use std::fs::File;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::{JoinHandle, spawn_blocking};

/// A part of a file as a body of known length.
///
/// One chunk is read after the other, each when there is room for it, so a body
/// holds one chunk of at most 64 KiB whatever the length of the file is.
pub(super) struct FileChunks {
    state: State,
    /// The bytes that were not given yet.
    left: u64,
    /// The last chunk, whose memory the next one takes if it is free by then. A new
    /// chunk would be filled with zeros first, a twentieth of the work of sending it.
    last: Bytes,
}

enum State {
    /// `None` after an error.
    Idle(Option<File>),
    Reading(JoinHandle<io::Result<(File, Bytes)>>),
}

impl FileChunks {
    /// Gives `length` bytes from where the file stands.
    pub(super) fn new(file: File, length: u64) -> Self {
        Self { state: State::Idle(Some(file)), left: length, last: Bytes::new() }
    }
}

impl Body for FileChunks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        loop {
            let left = this.left;
            match &mut this.state {
                State::Idle(file) => {
                    let Some(file) = file.take().filter(|_| left > 0) else {
                        return Poll::Ready(None);
                    };
                    let last = std::mem::take(&mut this.last);
                    this.state = State::Reading(spawn_blocking(move || read(file, left, last)));
                }
                State::Reading(task) => {
                    let outcome = ready!(Pin::new(task).poll(cx));
                    this.state = State::Idle(None);
                    let (file, chunk) = outcome.map_err(io::Error::other)??;
                    this.state = State::Idle(Some(file));
                    this.left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(left));
                    this.last = if this.left > 0 { chunk.clone() } else { Bytes::new() };
                    return Poll::Ready(Some(Ok(Frame::data(chunk))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Reads the next chunk. Fails when the file has become shorter, so that the
/// client notices that something is missing.
fn read(mut file: File, left: u64, last: Bytes) -> io::Result<(File, Bytes)> {
    let count = usize::try_from(left.min(CHUNK_BYTES)).map_err(io::Error::other)?;
    // In one call to the system: to read to the end of a vector takes four, because it
    // begins with 8 KiB.
    let mut chunk = last.try_into_mut().unwrap_or_default();
    chunk.resize(count, 0);
    file.read_exact(&mut chunk).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "the file became shorter while it was sent")
        }
        _ => error,
    })?;
    Ok((file, chunk.freeze()))
}

const CHUNK_BYTES: u64 = 64 * 1024;
