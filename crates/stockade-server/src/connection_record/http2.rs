//! The state of a connection of HTTP/2.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Http2State {
    spoken: AtomicBool,
    /// Bytes came since the last [`forget_bytes`](Self::forget_bytes).
    heard: AtomicBool,
    /// The bytes of large responses that are in memory until the client has them.
    held: AtomicU64,
}

impl Http2State {
    /// Notes that the client speaks HTTP/2.
    pub(crate) fn speak(&self) {
        self.spoken.store(true, Ordering::Relaxed);
    }

    /// Returns true if the client speaks HTTP/2.
    pub(crate) fn is_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    /// Notes that bytes came.
    pub(super) fn hear(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Resets [`has_heard`](Self::has_heard).
    pub(crate) fn forget_bytes(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// Returns true if bytes came since [`forget_bytes`](Self::forget_bytes).
    pub(crate) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Counts a large response in memory.
    pub(crate) fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a large response as gone.
    pub(crate) fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes of large responses in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}
