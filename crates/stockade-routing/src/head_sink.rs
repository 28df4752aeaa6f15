//! [`HeadSink`]: headers that a server writes as text into the head of a
//! response.
//!
//! Hot. This is one optimization in three places:
//!
//! 1. [`PreparedHeaders`](crate::prepared_headers::PreparedHeaders) writes the
//!    headers of the built-in stages here if the server has a sink, and into
//!    the map of the response otherwise.
//! 2. `HeadSink` holds the text until the head of the response is written.
//! 3. `HeadWriter` of `stockade-server` inserts the text after the status line.
//!    It depends on the order in which hyper writes, so it is part of the
//!    server's `fast_path`, which explains the assumptions and has a test for
//!    each of them.
//!
//! Reason: the eleven default headers cost 4,600 instructions per response as a
//! map. The map is copied, and then hyper writes it line by line. As text, the
//! headers cost 1,200.
//!
//! HTTP/2, hosts and `ServerOptions::hyper_fast_path(false)` do not use a sink.
//! Their clients receive the same headers in another order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use stockade_errors::locks::lock;

/// The header lines for the next head of a connection that are not in the map
/// of the response.
///
/// A server that writes the lines passes a sink to
/// [`poll_into`](crate::dispatch::poll_into). The type that creates the
/// response and the type of the socket share the sink. Only the task of the
/// connection locks it.
#[derive(Debug, Default)]
pub struct HeadSink {
    text: Mutex<Vec<u8>>,
    /// True if there are lines. Avoids the lock otherwise.
    has_lines: AtomicBool,
}

impl HeadSink {
    /// Replaces the lines. `write` appends the new lines, each with a line
    /// ending.
    pub fn set(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = self.lock();
        text.clear();
        write(&mut text);
        self.has_lines.store(true, Ordering::Relaxed);
    }

    /// Returns true if there are lines to write.
    #[must_use]
    #[inline]
    pub fn has_lines(&self) -> bool {
        self.has_lines.load(Ordering::Relaxed)
    }

    /// Marks the lines as written and returns them. The next response reuses
    /// their memory.
    pub fn take(&self) -> MutexGuard<'_, Vec<u8>> {
        self.has_lines.store(false, Ordering::Relaxed);
        self.lock()
    }

    /// Frees the memory of the text.
    pub fn free(&self) {
        *self.take() = Vec::new();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        // No code panics while it changes the text.
        lock(&self.text)
    }
}
