//! Times and counts of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::sweep::SweepClock;

#[derive(Debug)]
pub(super) struct Activity {
    clock: Arc<SweepClock>,
    /// Twice the start time of the head or idle period, plus one if the
    /// connection is idle.
    mark: AtomicU64,
    /// The lower half counts running requests. A request runs until its
    /// response is complete and its body is read. `mark` is meaningless while a
    /// request is running. The upper half counts ended requests.
    requests: AtomicU64,
    /// The number of ended requests at the last call of
    /// [`has_rested`](Self::has_rested).
    ended_before: AtomicU64,
    /// The number of request bodies that the server waits for. HTTP/2 allows
    /// several.
    awaited_bodies: AtomicU32,
}

impl Activity {
    pub(super) fn new(clock: Arc<SweepClock>) -> Self {
        let now = clock.stamp();
        Self {
            clock,
            mark: AtomicU64::new(now * 2),
            requests: AtomicU64::new(0),
            ended_before: AtomicU64::new(0),
            awaited_bodies: AtomicU32::new(0),
        }
    }

    /// Begins a head, unless one has already begun.
    pub(super) fn begin_head(&self) {
        if self.mark.load(Ordering::Relaxed) % 2 == 1 {
            self.mark.store(self.clock.stamp() * 2, Ordering::Relaxed);
        }
    }

    /// Restarts the time of the head or idle period.
    pub(super) fn restart(&self) {
        let mark = self.mark.load(Ordering::Relaxed);
        self.mark.store(self.clock.stamp() * 2 + mark % 2, Ordering::Relaxed);
    }

    /// Returns the start time of the head or idle period, and true if idle.
    pub(super) fn mark(&self) -> (u64, bool) {
        let mark = self.mark.load(Ordering::Relaxed);
        (mark / 2, mark % 2 == 1)
    }

    /// Records that a request begins.
    pub(super) fn begin_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a request has ended. `is_idle` is false if the next head
    /// has begun.
    pub(super) fn end_request(&self, is_idle: bool) {
        // The mark comes first, because a snapshot reads it last.
        self.mark.store(self.clock.stamp() * 2 + u64::from(is_idle), Ordering::Relaxed);
        // One running request fewer, one ended request more.
        self.requests.fetch_add(ENDED - 1, Ordering::Release);
    }

    /// Returns true while a request is running.
    pub(super) fn is_busy(&self) -> bool {
        !self.requests.load(Ordering::Acquire).is_multiple_of(ENDED)
    }

    /// Returns true if no request has ended since the last call.
    pub(super) fn has_rested(&self) -> bool {
        let ended = self.requests.load(Ordering::Relaxed) / ENDED;
        self.ended_before.swap(ended, Ordering::Relaxed) == ended
    }

    pub(super) fn await_body(&self) {
        self.awaited_bodies.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end_await(&self) {
        self.awaited_bodies.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true while the server waits for more of a request body.
    pub(super) fn awaits_body(&self) -> bool {
        self.awaited_bodies.load(Ordering::Relaxed) > 0
    }
}

/// One request in the upper half of `requests`.
const ENDED: u64 = 1 << 32;
