//! Requests that a process has leased from Redis and not yet spent.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use stockade_errors::locks::lock;

use super::MAX_REMEMBERED;

/// The leases of busy keys. Their number is bounded.
pub(super) struct Leases {
    share: u32,
    keys: Mutex<HashMap<u128, Lease>>,
}

struct Lease {
    /// Requests that can be spent in this process.
    left: u32,
    /// The size of the last lease.
    taken: u32,
    /// The number of requests left in Redis.
    remaining: u32,
    /// The end of the window.
    end: Instant,
    seen: Instant,
    is_asking: bool,
}

/// The next step of a request.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Spend one from the lease.
    Spend { remaining: u32, reset: Duration },
    /// Charge this many in Redis.
    Ask(u32),
}

/// A charge of more than one request. Each key has at most one in flight.
pub(super) struct LeaseRequest<'a> {
    leases: &'a Leases,
    name: u128,
}

impl Leases {
    pub(super) fn new(share: u32) -> Self {
        Self { share, keys: Mutex::new(HashMap::new()) }
    }

    /// Returns the next step for one request.
    pub(super) fn take(&self, name: u128, limit: u32, now: Instant) -> Step {
        let mut keys = lock(&self.keys);
        let Some(lease) = keys.get_mut(&name) else {
            if keys.len() >= MAX_REMEMBERED {
                keys.retain(|_, lease| now.saturating_duration_since(lease.seen) < BUSY);
            }
            if keys.len() < MAX_REMEMBERED {
                let lease = Lease {
                    left: 0,
                    taken: 1,
                    remaining: limit,
                    end: now,
                    seen: now,
                    is_asking: false,
                };
                keys.insert(name, lease);
            }
            return Step::Ask(1);
        };
        let is_busy = now.saturating_duration_since(lease.seen) < BUSY;
        lease.seen = now;
        if lease.end <= now {
            // The window is over, so unspent requests expire.
            (lease.left, lease.remaining) = (0, limit);
        }
        if let Some(left) = lease.left.checked_sub(1) {
            lease.left = left;
            let remaining = lease.remaining.saturating_add(left);
            return Step::Spend { remaining, reset: lease.end - now };
        }
        let most = (limit / self.share).max(1);
        if lease.is_asking {
            return Step::Ask(1);
        }
        let is_scarce = lease.remaining < most.saturating_mul(2);
        lease.taken =
            if is_busy && !is_scarce { lease.taken.saturating_mul(2).min(most) } else { 1 };
        Step::Ask(lease.taken)
    }

    /// Marks that a lease for this key is in flight.
    pub(super) fn asking(&self, name: u128) -> LeaseRequest<'_> {
        if let Some(lease) = lock(&self.keys).get_mut(&name) {
            lease.is_asking = true;
        }
        LeaseRequest { leases: self, name }
    }

    /// Records the number of requests left in Redis.
    pub(super) fn note(&self, name: u128, remaining: u32, end: Instant) {
        if let Some(lease) = lock(&self.keys).get_mut(&name) {
            // A lease keeps its original end.
            if lease.left == 0 {
                (lease.remaining, lease.end) = (remaining, end);
            }
        }
    }
}

impl LeaseRequest<'_> {
    /// Stores the granted requests beyond the current one.
    pub(super) fn settle(self, granted: u32, remaining: u32, end: Instant) {
        if let Some(lease) = lock(&self.leases.keys).get_mut(&self.name) {
            (lease.left, lease.remaining, lease.end) = (granted, remaining, end);
        }
    }
}

/// Clears the in-flight mark when the future is dropped or fails.
impl Drop for LeaseRequest<'_> {
    fn drop(&mut self) {
        if let Some(lease) = lock(&self.leases.keys).get_mut(&self.name) {
            lease.is_asking = false;
        }
    }
}

/// A key is busy if it is used again within this time.
const BUSY: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_key_leases_more_and_spends_it_locally() {
        let (leases, start) = (Leases::new(16), Instant::now());
        let end = start + Duration::from_secs(60);
        let ask = || match leases.take(7, 160, start) {
            Step::Ask(want) => Some(want),
            Step::Spend { .. } => None,
        };
        assert_eq!(ask(), Some(1));
        leases.note(7, 159, end);
        let mut used = 1;
        for expected in [2, 4, 8, 10, 10] {
            assert_eq!(ask(), Some(expected));
            let asking = leases.asking(7);
            // Meanwhile another request is charged separately.
            assert_eq!(ask(), Some(1));
            used += expected;
            asking.settle(expected - 1, 160 - used, end);
            for spent in 1..expected {
                let remaining = 160 - used + expected - 1 - spent;
                let reset = Duration::from_secs(60);
                assert_eq!(leases.take(7, 160, start), Step::Spend { remaining, reset });
            }
        }
        // Near the end of the limit, requests are charged one by one.
        leases.note(7, 19, end);
        assert_eq!(ask(), Some(1));
    }

    #[test]
    fn unspent_leases_expire_with_the_window() {
        let (leases, start) = (Leases::new(4), Instant::now());
        let end = start + Duration::from_secs(1);
        assert_eq!(leases.take(7, 100, start), Step::Ask(1));
        leases.asking(7).settle(20, 70, end);
        assert_eq!(leases.take(7, 100, end), Step::Ask(1));
        // A failure does not block the key.
        drop(leases.asking(7));
        assert_eq!(leases.take(7, 100, end), Step::Ask(2));
    }
}
