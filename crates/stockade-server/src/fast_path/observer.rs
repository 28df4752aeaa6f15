//! [`Observer`]: follows a connection of hyper and finds broken assumptions.

use super::Assumption;
use super::head_writer::{CONTINUE, status_line_of};

/// The facts about a connection, recorded by the socket and the service at its
/// two ends.
#[derive(Debug)]
pub(super) struct Observer {
    /// The bytes of the client that hyper has not read yet.
    pub(super) input: Vec<u8>,
    /// The number of requests that hyper has passed to the service.
    requests: usize,
    /// The responses that hyper has received from the service.
    received: Progress,
    /// The responses that the socket has accepted.
    written: Written,
    /// True if the last call was a flush. The server then offers the lines of
    /// the next head to the head writer, like
    /// [`Exchanges`](super::exchanges::Exchanges).
    is_flushed: bool,
    /// The status of a response that hyper has received after a flush and has
    /// not begun to write.
    next_head: Option<u16>,
    /// True if a part of a response was pending in this poll.
    waits: bool,
    /// True if hyper has flushed in this poll.
    has_flushed: bool,
    /// True if the socket has blocked a write in this poll.
    is_blocked: bool,
    broken: Vec<Assumption>,
}

/// A number of responses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Progress {
    heads: usize,
    /// The bytes of all bodies.
    body: usize,
    /// The number of complete responses.
    complete: usize,
}

impl Observer {
    /// Creates the observer of a new connection.
    pub(super) fn new() -> Self {
        Self {
            input: Vec::new(),
            requests: 0,
            received: Progress::default(),
            written: Written::default(),
            // Like a new `HeadWriter`.
            is_flushed: true,
            next_head: None,
            waits: false,
            has_flushed: false,
            is_blocked: false,
            broken: Vec::new(),
        }
    }

    /// Records a request, and returns the number of earlier requests.
    pub(super) fn request(&mut self) -> usize {
        self.requests += 1;
        self.requests - 1
    }

    /// Records that the service or the body of a response is pending.
    pub(super) fn wait(&mut self) {
        self.waits = true;
    }

    /// Records a response with this status.
    pub(super) fn respond(&mut self, status: u16) {
        self.received.heads += 1;
        if self.next_head.is_some() {
            self.report(Assumption::HeadAfterFlush);
        }
        if self.is_flushed {
            self.next_head = Some(status);
        }
    }

    /// Records the length of a piece of a response body.
    pub(super) fn give(&mut self, length: usize) {
        self.received.body += length;
    }

    /// Records the end of a response body.
    pub(super) fn end(&mut self) {
        self.received.complete += 1;
        self.is_flushed = false;
    }

    /// Records a write. `first` is its first piece.
    pub(super) fn offer(&mut self, first: &[u8]) {
        self.is_flushed = false;
        if first == CONTINUE {
            return;
        }
        if let Some(status) = self.next_head.take()
            && status_of(first) != Some(status)
        {
            self.report(Assumption::HeadAfterFlush);
        }
    }

    /// Records bytes that the socket has accepted.
    pub(super) fn accept(&mut self, bytes: &[u8]) {
        self.written.read(bytes);
    }

    /// Records that the socket does not accept bytes now.
    pub(super) fn block(&mut self) {
        self.is_blocked = true;
    }

    pub(super) fn flush(&mut self) {
        if self.written.progress != self.received {
            self.report(Assumption::FlushAfterAll);
        }
        self.is_flushed = true;
        self.has_flushed = true;
    }

    /// Records the end of a poll.
    pub(super) fn end_poll(&mut self) {
        // hyper cannot flush before the socket accepts its bytes.
        if self.waits && !self.has_flushed && !self.is_blocked {
            self.report(Assumption::FlushInEachPoll);
        }
        (self.waits, self.has_flushed, self.is_blocked) = (false, false, false);
    }

    /// Records the bytes that hyper holds between two requests. `end` is the
    /// empty line that the client has sent after its last request, if any.
    pub(super) fn hold(&mut self, held: &[u8], end: &str) {
        let is_allowed = held.is_empty() || held == end.as_bytes();
        if !is_allowed || !self.input.is_empty() {
            self.report(Assumption::NothingReadAhead);
        }
    }

    /// Returns true if the client has this number of responses and nothing is
    /// pending.
    pub(super) fn has_sent(&self, responses: usize) -> bool {
        let sent = self.written.progress;
        sent == self.received && sent.complete == responses && self.is_flushed
    }

    pub(super) fn report(&mut self, broken: Assumption) {
        self.broken.push(broken);
    }

    /// Returns the broken assumptions, some of them several times.
    pub(super) fn broken(&self) -> &[Assumption] {
        &self.broken
    }
}

/// Returns the status of a head that `HeadWriter` can change.
fn status_of(first: &[u8]) -> Option<u16> {
    let line = status_line_of(first)?;
    let line = line.strip_prefix(CONTINUE).unwrap_or(line);
    std::str::from_utf8(line.get(9..12)?).ok()?.parse().ok()
}

/// Finds the responses in written bytes.
#[derive(Debug, Default)]
struct Written {
    progress: Progress,
    next: Next,
    /// The start of the current line.
    line: Vec<u8>,
    /// The body that the current head announces.
    announced: Next,
    /// True if the current head belongs to an interim response, such as 100.
    is_interim: bool,
}

/// The part of a response that comes next.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Next {
    #[default]
    Head,
    /// A body with this number of remaining bytes.
    Body(usize),
    ChunkSize,
    Chunk(usize),
    ChunkEnd,
    Trailers,
}

impl Written {
    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if let Next::Body(left) | Next::Chunk(left) = &mut self.next {
                let count = bytes.len().min(*left);
                *left -= count;
                self.progress.body += count;
                bytes = &bytes[count..];
                self.leave_empty();
                continue;
            }
            let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end..];
            if self.line.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.read_line(String::from_utf8_lossy(&line).trim_end());
                self.leave_empty();
            }
        }
    }

    /// Ends a body or a chunk without remaining bytes.
    fn leave_empty(&mut self) {
        match self.next {
            Next::Body(0) => self.complete(),
            Next::Chunk(0) => self.next = Next::ChunkEnd,
            _ => {}
        }
    }

    fn complete(&mut self) {
        self.progress.complete += 1;
        self.next = Next::Head;
    }

    fn read_line(&mut self, line: &str) {
        match self.next {
            Next::Head if line.is_empty() => {
                if !self.is_interim {
                    self.progress.heads += 1;
                    self.next = self.announced;
                }
            }
            Next::Head => self.read_head_line(line),
            Next::ChunkSize => {
                // A malformed size ends the body, and the counts differ.
                self.next = match usize::from_str_radix(line, 16) {
                    Ok(size) if size > 0 => Next::Chunk(size),
                    _ => Next::Trailers,
                };
            }
            Next::ChunkEnd => self.next = Next::ChunkSize,
            Next::Trailers if line.is_empty() => self.complete(),
            Next::Trailers | Next::Body(_) | Next::Chunk(_) => {}
        }
    }

    fn read_head_line(&mut self, line: &str) {
        let line = line.to_ascii_lowercase();
        if line.starts_with("http/") {
            self.is_interim = line.get(9..10) == Some("1");
            self.announced = Next::Body(0);
        } else if let Some(length) = line.strip_prefix("content-length:") {
            self.announced = Next::Body(length.trim().parse().unwrap_or(0));
        } else if line.starts_with("transfer-encoding:") {
            self.announced = Next::ChunkSize;
        }
    }
}
