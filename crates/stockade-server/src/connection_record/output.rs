//! The state of the sending side of the socket.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(super) struct Output {
    /// The socket takes no more bytes.
    blocked: AtomicBool,
    /// The bytes that the socket took after it was blocked.
    taken: AtomicU64,
    /// A blocked socket has to be tried, although the system does not report it
    /// as ready.
    asks: AtomicBool,
    /// The socket has to be reset instead of closed.
    resets: AtomicBool,
}

impl Output {
    /// Notes that the socket takes no more bytes. Returns true if it has to be tried
    /// anyway.
    pub(super) fn block(&self) -> bool {
        let was_blocked = self.blocked.swap(true, Ordering::Relaxed);
        self.asks.swap(false, Ordering::Relaxed) && was_blocked
    }

    /// Notes that a blocked socket took bytes.
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

    /// Returns the bytes that the socket took after it was blocked.
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
