//! Everything that depends on hyper internals.
//!
//! | optimization | saves | file |
//! |---|---|---|
//! | headers as text after the status line | 3,400 of 4,600 instructions per response with the default headers | `head_writer` |
//! | idle connections without hyper's part (parking) | about 10 KiB per idle connection | `parking`, `exchanges` |
//! | a peek instead of a read, to notice disconnected clients | a tenth of a request | `TrackedStream::watch` |
//!
//! They rely on rules that hyper follows but does not promise. Each rule is an
//! [`Assumption`] and is tested with a real hyper connection (`assumptions`).
//!
//! `ServerOptions::hyper_fast_path(false)` selects the plain path, which needs
//! none of this: hyper writes all headers and reads to notice disconnected
//! clients, and no connection is parked. Clients can distinguish the two only
//! by time and by the order of headers.

#[cfg(test)]
mod assumptions;
pub(crate) mod exchanges;
pub(crate) mod head_writer;
pub(crate) mod parking;
#[cfg(test)]
mod recording_socket;

/// A rule that hyper follows but does not promise.
///
/// The variants are used only in documentation and tests.
#[cfg(any(test, doc))]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Assumption {
    /// hyper flushes the socket only after it has written its whole buffer.
    ///
    /// After a flush, the client can therefore receive all bytes of all
    /// responses. Used by parking and for the next assumption.
    FlushAfterAll,
    /// The first bytes that hyper writes after a flush are the head of a
    /// response. Only `100 Continue` may precede it. The status line is in the
    /// first piece.
    ///
    /// Used by [`HeadWriter`](head_writer::HeadWriter). Each round of hyper
    /// processes at most one response, writes its head before its body, and
    /// ends with a flush.
    HeadAfterFlush,
    /// A connection that has sent all responses and was polled once more holds
    /// no bytes from the client except an empty line.
    ///
    /// Used by parking. If hyper holds other bytes, the connection closes and
    /// the close is logged.
    NothingReadAhead,
    /// hyper flushes at the end of each poll, even while a response is pending.
    ///
    /// Used by the peek, which happens in the flush.
    FlushInEachPoll,
}
