//! The delays between connection attempts.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Exponential delays with jitter.
///
/// Each delay doubles and is shortened at random by up to half. This spreads
/// out the reconnects of processes that lost the same server.
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
        // A `RandomState` has random keys; 10 bits of its hash give the random
        // share.
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
