//! The state of an HTTP/2 connection.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Http2State {
    spoken: AtomicBool,
    /// Bytes have arrived since the last [`forget_bytes`](Self::forget_bytes).
    heard: AtomicBool,
    /// The bytes of large responses that stay in memory until the client has
    /// received them.
    held: AtomicU64,
}

impl Http2State {
    /// Records that the client speaks HTTP/2.
    #[cfg(feature = "http2")]
    pub(crate) fn speak(&self) {
        self.spoken.store(true, Ordering::Relaxed);
    }

    /// Returns true if the client speaks HTTP/2.
    pub(crate) fn is_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    /// Records that bytes arrived.
    pub(super) fn hear(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Resets [`has_heard`](Self::has_heard).
    pub(crate) fn forget_bytes(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// Returns true if bytes have arrived since
    /// [`forget_bytes`](Self::forget_bytes).
    pub(crate) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Counts a large response in memory.
    pub(crate) fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a large response as freed.
    pub(crate) fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes of large responses in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}
