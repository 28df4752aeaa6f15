//! [`Backoff`]: the waits between attempts to connect.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Waits that double, each shortened by up to a half at random, so that processes that
/// lost the same engine do not return to it at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { next: SHORTEST }
    }

    pub(crate) fn wait(&mut self) -> Duration {
        let most = self.next;
        self.next = (most * 2).min(LONGEST);
        // The keys of a `RandomState` are random; the last 10 bits are a share.
        let share = RandomState::new().hash_one(most) % 1_024;
        let share = u32::try_from(share).unwrap_or_default();
        most / 2 + most / 2 * share / 1_023
    }
}

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_their_bounds() {
        let mut backoff = Backoff::new();
        for most in [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            let (most, wait) = (Duration::from_millis(most), backoff.wait());
            assert!(wait >= most / 2 && wait <= most, "{wait:?} of {most:?}");
        }
    }
}
