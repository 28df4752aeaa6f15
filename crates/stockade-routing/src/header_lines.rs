//! [`HeaderLines`]: headers as the text that HTTP/1 has of them, for a server that
//! writes it into its responses itself.
//!
//! Hot: the defaults, with their eleven headers, cost 4,600 instructions as a map, which
//! is copied for each response and written by hyper line by line, and 1,200 as text.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines of headers that belong into the head of the next response of a connection,
/// and are not in the map of its headers.
///
/// A server gives it to [`poll_into`](crate::dispatch::poll_into) if it writes them
/// there, as one of HTTP/1 does. The response and the socket are in different hands, so
/// it is shared; only the task of the connection ever locks it.
#[derive(Debug, Default)]
pub struct HeaderLines {
    text: Mutex<Vec<u8>>,
    /// True if there are lines, so that nobody has to lock to see that there are none.
    are_set: AtomicBool,
}

impl HeaderLines {
    /// Sets the lines to what `write` appends, each with its end.
    pub fn set(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = self.lock();
        text.clear();
        write(&mut text);
        self.are_set.store(true, Ordering::Relaxed);
    }

    /// Returns true if there are lines to be written.
    #[must_use]
    #[inline]
    pub fn are_set(&self) -> bool {
        self.are_set.load(Ordering::Relaxed)
    }

    /// Takes the lines: they count as written. The text stays where it is, so that its
    /// memory serves the next response.
    pub fn take(&self) -> MutexGuard<'_, Vec<u8>> {
        self.are_set.store(false, Ordering::Relaxed);
        self.lock()
    }

    /// Frees the memory of the text.
    pub fn free(&self) {
        *self.take() = Vec::new();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        // Nothing panics between two steps of a change.
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
