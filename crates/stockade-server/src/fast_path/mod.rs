//! Everything that depends on how hyper works inside.
//!
//! | optimization | saves | file |
//! |---|---|---|
//! | headers as text behind the status line | 3,400 of 4,600 instructions per response for the headers of the defaults | `head_writer` |
//! | idle connections without hyper's part (parking) | some 10 KiB per idle connection | `parking`, `exchanges` |
//! | a peek instead of a read, to notice clients that leave | a tenth of a request | `TrackedStream::watch` |
//!
//! They hold only if hyper keeps to some rules that it does not promise. Each rule is an
//! [`Assumption`] and has a test with a real connection of hyper (`assumptions`).
//!
//! `ServerOptions::hyper_fast_path(false)` selects the plain path, which needs none of
//! this: hyper writes all headers and reads to notice a client that leaves, and no
//! connection is parked. A client can tell the two apart only by time and by the order of
//! headers.

#[cfg(test)]
mod assumptions;
pub(crate) mod exchanges;
pub(crate) mod head_writer;
pub(crate) mod parking;
#[cfg(test)]
mod recording_socket;

/// A rule that hyper keeps and does not promise.
///
/// The variants are only named in documentation and in tests.
#[cfg(any(test, doc))]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Assumption {
    /// hyper flushes the socket only after it has written its whole buffer.
    ///
    /// Then a flush means that the client can have all bytes of all responses. Used by
    /// parking and for the next assumption.
    FlushAfterAll,
    /// The first bytes that hyper writes after a flush are the head of a response. Only
    /// `100 Continue` may come before it. The status line is in the first piece.
    ///
    /// Used by [`HeadWriter`](head_writer::HeadWriter). Each round of hyper takes one
    /// response at most, writes its head before its body, and ends with a flush.
    HeadAfterFlush,
    /// A connection that has answered everything, and that was polled once more, holds no
    /// bytes of the client except an empty line.
    ///
    /// Used by parking. If hyper holds others, the connection closes with a line in the
    /// log.
    NothingReadAhead,
    /// hyper flushes at the end of each poll, also while a response is being made.
    ///
    /// Used by the peek, which happens in the flush.
    FlushInEachPoll,
}
