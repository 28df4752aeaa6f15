//! [`Overflow`]: counts for new keys that do not fit into a full [`Table`].
//!
//! A keyed hash assigns each new key to one of many windows, which it shares
//! with other keys. A client that fills the table therefore exhausts only a few
//! windows, and cannot choose which.
//!
//! [`Table`]: super::table::Table

use std::num::NonZeroU32;

use super::algorithm::{Algorithm, State};
use super::decision::Decision;
use super::quota::RateLimitPolicy;

/// A fixed number of windows, which use no memory while all are unused.
#[derive(Debug)]
pub(super) struct Overflow {
    /// Empty until the first new key arrives.
    windows: Box<[State]>,
    /// The number of windows. Invariant: not 0.
    count: usize,
    /// The time after which no window counts any longer.
    dead_at: u64,
}

impl Overflow {
    pub(super) fn new(count: usize) -> Self {
        Self { windows: Box::default(), count: count.max(1), dead_at: 0 }
    }

    /// Charges one request to the window of this hash.
    #[cold]
    pub(super) fn charge(
        &mut self,
        hash: u64,
        algorithm: Algorithm,
        policy: &RateLimitPolicy,
        cost: NonZeroU32,
        now: u64,
    ) -> Decision {
        if self.windows.is_empty() {
            self.windows = vec![State::default(); self.count].into();
        }
        let window = &mut self.windows[place(hash, self.count)];
        let decision = algorithm.charge(window, policy, cost, now);
        self.dead_at = self.dead_at.max(window.dead_at);
        decision
    }

    /// Frees the memory if no window counts any longer.
    #[cold]
    pub(super) fn release(&mut self, now: u64) {
        if !self.windows.is_empty() && self.dead_at <= now {
            *self = Self::new(self.count);
        }
    }

    /// Returns the number of allocated windows.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.windows.len()
    }
}

/// Returns the index of the window for a hash. It uses the lower half of the
/// hash, because the upper bits choose the slot in a table.
fn place(hash: u64, count: usize) -> usize {
    let share = (u128::from(hash.rotate_left(32)) * (count as u128)) >> 64;
    // The result is below `count`, so it fits.
    usize::try_from(share).unwrap_or_default()
}

/// The number of windows of all shards of a store. Each uses 16 bytes, so
/// together they use 256 KiB.
pub(super) const OVERFLOW_WINDOWS: usize = 16_384;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::algorithm::ALL;
    use super::super::quota::MINUTE;
    use super::*;

    const MINUTE_NANOS: u64 = 60_000_000_000;

    #[test]
    fn allocates_memory_on_demand_and_releases_it() {
        let policy = RateLimitPolicy::new("default", 1 / MINUTE).unwrap();
        for &algorithm in ALL {
            let mut overflow = Overflow::new(512);
            assert_eq!(overflow.len(), 0);
            assert!(overflow.charge(7, algorithm, &policy, NonZeroU32::MIN, 0).allowed);
            let refused = overflow.charge(7, algorithm, &policy, NonZeroU32::MIN, 1);
            assert!(!refused.allowed && refused.retry_after > Duration::ZERO, "{algorithm:?}");
            overflow.release(MINUTE_NANOS - 1);
            assert_eq!(overflow.len(), 512, "{algorithm:?}");
            overflow.release(2 * MINUTE_NANOS);
            assert_eq!(overflow.len(), 0, "{algorithm:?}");
        }
    }

    #[test]
    fn every_hash_has_a_window() {
        for count in [1, 256, OVERFLOW_WINDOWS] {
            assert_eq!(place(0, count), 0);
            assert_eq!(place(u64::MAX, count), count - 1);
            assert_eq!(place(0xffff_ffff, count), count - 1);
        }
        assert_eq!(size_of::<State>(), 16);
    }
}
