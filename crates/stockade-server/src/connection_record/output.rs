//! The sending side of the socket.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(super) struct Output {
    /// The socket accepts no more bytes.
    blocked: AtomicBool,
    /// The number of bytes that the socket accepted after it was blocked.
    taken: AtomicU64,
    /// A write to the blocked socket must be tried even if the system does not
    /// report it as ready.
    asks: AtomicBool,
    /// The socket must be reset instead of closed.
    resets: AtomicBool,
}

impl Output {
    /// Records that the socket accepts no more bytes. Returns true if a write
    /// must be tried anyway.
    pub(super) fn block(&self) -> bool {
        let was_blocked = self.blocked.swap(true, Ordering::Relaxed);
        self.asks.swap(false, Ordering::Relaxed) && was_blocked
    }

    /// Records that a blocked socket accepted bytes.
    pub(super) fn unblock(&self, count: usize) {
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.blocked.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// Makes the next [`block`](Self::block) try the socket.
    pub(super) fn ask(&self) {
        self.asks.store(true, Ordering::Relaxed);
    }

    /// Returns the number of bytes that the socket accepted after it was
    /// blocked.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    pub(super) fn set_resets(&self) {
        self.resets.store(true, Ordering::Relaxed);
    }

    pub(super) fn resets(&self) -> bool {
        self.resets.load(Ordering::Relaxed)
    }
}
