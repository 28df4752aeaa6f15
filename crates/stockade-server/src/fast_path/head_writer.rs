//! [`HeadWriter`]: inserts the lines of a `HeadSink` into the heads that hyper
//! writes.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection_record::ConnectionRecord;

/// The connection that hyper writes to. Inserts the lines of the sink after the
/// status line of a response.
///
/// The record offers the sink to a response only after a flush. hyper's next
/// bytes then begin with the head of this response
/// ([`Assumption::HeadAfterFlush`]). Otherwise the connection ends with an
/// error, so no response is sent without its headers.
///
/// [`Assumption::HeadAfterFlush`]: super::Assumption::HeadAfterFlush
#[derive(Debug)]
pub(crate) struct HeadWriter<T> {
    io: T,
    record: Arc<ConnectionRecord>,
    /// Bytes that count as written but are not yet accepted by the socket.
    rest: Vec<u8>,
    /// The number of bytes of `rest` that the socket has accepted.
    taken: usize,
}

impl<T> HeadWriter<T> {
    pub(crate) fn new(io: T, record: Arc<ConnectionRecord>) -> Self {
        record.http1.exchanges.set_flushed(true);
        Self { io, record, rest: Vec::new(), taken: 0 }
    }

    /// Returns the inner connection, after a flush.
    pub(crate) fn into_inner(self) -> T {
        self.record.http1.exchanges.set_flushed(false);
        self.record.http1.sink.free();
        self.io
    }
}

impl<T: AsyncWrite + Unpin> HeadWriter<T> {
    /// Writes the bytes that count as written.
    #[inline]
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.rest.is_empty() { Poll::Ready(Ok(())) } else { self.write_rest(cx) }
    }

    #[cold]
    fn write_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.taken < self.rest.len() {
            let rest = &self.rest[self.taken..];
            match ready!(Pin::new(&mut self.io).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                count => self.taken += count,
            }
        }
        self.rest = Vec::new();
        self.taken = 0;
        Poll::Ready(Ok(()))
    }

    /// Writes a head with the inserted lines, and the bytes that follow. The
    /// head is at the start of the first of `bufs`. Returns the number of bytes
    /// of `bufs` that count as written. These include the status line and up to
    /// [`MAX_COPIED`] bytes after it.
    fn poll_head(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        ready!(self.poll_rest(cx))?;
        let Some((head, others)) = bufs.split_first() else { return Poll::Ready(Ok(0)) };
        if **head == *CONTINUE {
            // hyper has failed to write the response itself, and ends the
            // connection after this.
            return Pin::new(&mut self.io).poll_write(cx, head);
        }
        let mut text = self.record.http1.sink.take();
        let Some(status_line) = status_line_of(head) else {
            let message = "this is a bug in stockade: a head was expected";
            return Poll::Ready(Err(io::Error::other(message)));
        };
        text.extend_from_slice(status_line);
        text.rotate_right(status_line.len());
        let copied = head.len().min(status_line.len() + MAX_COPIED);
        text.extend_from_slice(&head[status_line.len()..copied]);
        let io = Pin::new(&mut self.io);
        let polled = if others.is_empty() || copied < head.len() {
            io.poll_write(cx, &text)
        } else {
            let mut all = [IoSlice::new(&text); MAX_BUFS];
            all.iter_mut().skip(1).zip(others).for_each(|(place, other)| *place = *other);
            io.poll_write_vectored(cx, &all[..bufs.len().min(MAX_BUFS)])
        };
        let count = match polled {
            Poll::Ready(count) => count?,
            // The subsequent flush waits for the socket.
            Poll::Pending => 0,
        };
        if count < text.len() {
            self.rest = std::mem::take(&mut text);
            self.taken = count;
            return Poll::Ready(Ok(copied));
        }
        let behind = count - text.len();
        text.clear();
        Poll::Ready(Ok(copied + behind))
    }
}

/// Returns the status line of a final response, including a preceding 100, or
/// `None` for other bytes.
pub(super) fn status_line_of(head: &[u8]) -> Option<&[u8]> {
    let interim = if head.starts_with(CONTINUE) { CONTINUE.len() } else { 0 };
    let (version, rest) = head[interim..].split_at_checked(VERSION.len())?;
    let end = memchr::memchr(b'\n', rest)? + 1;
    version.starts_with(b"HTTP/1.").then(|| &head[..interim + VERSION.len() + end])
}

impl<T: AsyncRead + Unpin> AsyncRead for HeadWriter<T> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for HeadWriter<T> {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.record.http1.exchanges.set_flushed(false);
        if self.record.http1.sink.has_lines() {
            return self.poll_head(cx, &[IoSlice::new(buf)]);
        }
        ready!(self.poll_rest(cx))?;
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.record.http1.exchanges.set_flushed(false);
        if self.record.http1.sink.has_lines() {
            return self.poll_head(cx, bufs);
        }
        ready!(self.poll_rest(cx))?;
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(cx))?;
        self.record.http1.exchanges.set_flushed(true);
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(cx))?;
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// The interim response that hyper writes before the head if both are sent
/// together.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The start of a status line, up to the status.
const VERSION: &str = "HTTP/1.1 200";

/// The maximum number of bytes after a status line that are copied after the
/// inserted lines: 8 KiB, hyper's initial capacity. hyper may copy up to 100
/// KiB of a large body after its head, and the record would retain that memory.
const MAX_COPIED: usize = 8_192;

/// The maximum number of pieces per write; hyper writes the others afterwards.
const MAX_BUFS: usize = 16;

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Mutex;
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;

    use super::super::recording_socket::RecordingSocket;
    use super::*;
    use crate::sweep::SweepClock;

    fn writer(
        most: usize,
    ) -> (HeadWriter<RecordingSocket>, Arc<ConnectionRecord>, Arc<Mutex<Vec<u8>>>) {
        let clock = SweepClock::new(Duration::from_secs(1));
        let record = Arc::new(ConnectionRecord::new(Arc::new(clock), true));
        let (socket, written) = RecordingSocket::new(most);
        (HeadWriter::new(socket, Arc::clone(&record)), record, written)
    }

    /// Writes pieces like hyper: rewrites the unaccepted rest and everything
    /// after it, until a flush.
    async fn write(
        writer: &mut HeadWriter<RecordingSocket>,
        pieces: &[&str],
        vectored: bool,
    ) -> io::Result<()> {
        let mut left: Vec<Vec<u8>> = pieces.iter().map(|it| it.as_bytes().to_vec()).collect();
        if !vectored {
            left = vec![left.concat()];
        }
        while !left.is_empty() {
            let bufs: Vec<_> = left.iter().map(|it| IoSlice::new(it)).collect();
            let mut count = poll_fn(|cx| {
                let writer = Pin::new(&mut *writer);
                if vectored {
                    writer.poll_write_vectored(cx, &bufs)
                } else {
                    writer.poll_write(cx, &bufs[0])
                }
            })
            .await?;
            assert!(count > 0);
            while let Some(first) = left.first_mut().filter(|first| first.len() <= count) {
                count -= first.len();
                left.remove(0);
            }
            if let Some(first) = left.first_mut() {
                first.drain(..count);
            }
        }
        writer.flush().await
    }

    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";

    #[tokio::test]
    async fn inserts_lines_after_the_status_line_in_writes_of_any_size() {
        let line = "x-a: b\r\n";
        let cases: [(&[&str], String); 6] = [
            (&[HEAD, "ok"], HEAD.replacen("\r\n", "\r\nx-a: b\r\n", 1) + "ok"),
            (&[HEAD], HEAD.replacen("\r\n", "\r\nx-a: b\r\n", 1)),
            (&["HTTP/1.0 404 \r\n\r\n"], format!("HTTP/1.0 404 \r\n{line}\r\n")),
            (&["HTTP/1.1 200 OK\r\n\r\n", "4\r\n", "HTTP", "\r\n"], {
                format!("HTTP/1.1 200 OK\r\n{line}\r\n4\r\nHTTP\r\n")
            }),
            (&["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"], {
                format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n{line}\r\n")
            }),
            (&[&["HTTP/1.1 200 OK\r\n\r\n"], &["ab"; 40][..]].concat(), {
                format!("HTTP/1.1 200 OK\r\n{line}\r\n{}", "ab".repeat(40))
            }),
        ];
        for (pieces, expected) in &cases {
            for most in [1, 7, 20, 30, 1_000, usize::MAX] {
                for vectored in [false, true] {
                    let (mut writer, record, bytes) = writer(most);
                    for _ in 0..3 {
                        let lines = record.http1.head_sink().unwrap();
                        lines.set(|text| text.extend_from_slice(line.as_bytes()));
                        write(&mut writer, pieces, vectored).await.unwrap();
                        assert!(!record.http1.sink.has_lines());
                    }
                    let written = String::from_utf8(bytes.lock().unwrap().clone()).unwrap();
                    assert_eq!(written, expected.repeat(3), "{most} {vectored}");
                }
            }
        }
    }

    #[tokio::test]
    async fn copies_little_of_a_large_response() {
        let lengths = [MAX_COPIED - 1, MAX_COPIED, MAX_COPIED + 1, 100_000];
        for (length, most) in lengths.into_iter().flat_map(|it| [(it, 700), (it, usize::MAX)]) {
            for vectored in [false, true] {
                let (mut writer, record, bytes) = writer(most);
                let head = format!("HTTP/1.1 200 OK\r\n{}", "a".repeat(length));
                record.http1.sink.set(|text| text.extend_from_slice(b"x-a: b\r\n"));
                write(&mut writer, &[&head, "body"], vectored).await.unwrap();
                let expected = head.replacen('\n', "\nx-a: b\r\n", 1) + "body";
                assert!(
                    bytes.lock().unwrap().clone() == expected.as_bytes(),
                    "{length} {most} {vectored}"
                );
                assert!(record.http1.sink.take().capacity() <= 2 * MAX_COPIED);
            }
        }
    }

    #[tokio::test]
    async fn accepts_lines_only_after_a_flush() {
        let (mut writer, record, _bytes) = writer(usize::MAX);
        assert!(record.http1.head_sink().is_some());
        let part = poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, b"HTTP/1.1 200")).await;
        assert_eq!(part.unwrap(), 12);
        assert!(record.http1.head_sink().is_none());
        writer.flush().await.unwrap();
        assert!(record.http1.head_sink().is_some());
        writer.into_inner();
        assert!(record.http1.head_sink().is_none());
    }

    #[tokio::test]
    async fn does_not_write_malformed_heads() {
        for text in ["ok", "x-a: b\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/2 200 OK, no head\r\n"] {
            for vectored in [false, true] {
                let (mut writer, record, bytes) = writer(usize::MAX);
                record.http1.sink.set(|text| text.extend_from_slice(b"x-a: b\r\n"));
                write(&mut writer, &[text], vectored).await.unwrap_err();
                assert_eq!(bytes.lock().unwrap().clone(), b"", "{text}");
            }
        }
    }
}
