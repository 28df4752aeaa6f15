//! The circuit breaker for a connection that does not respond.

use std::time::Duration;

/// Counts consecutive failures. It is plain data: the caller waits and sends
/// the probes.
#[derive(Debug)]
pub(crate) struct Breaker {
    failures: u32,
    /// The duration of the next open period.
    next: Duration,
}

impl Breaker {
    pub(crate) fn new() -> Self {
        Self { failures: 0, next: SHORTEST }
    }

    /// Records a command that timed out. Returns true if this opens the
    /// breaker.
    pub(crate) fn failed(&mut self) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.failures == MOST_FAILURES
    }

    /// Records a response.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::new();
    }

    /// Returns the duration of the open period. It doubles each time until a
    /// command succeeds.
    pub(crate) fn open(&mut self) -> Duration {
        let time = self.next;
        self.next = (time * 2).min(LONGEST);
        time
    }

    /// Closes the breaker after a successful probe. The next failure opens it
    /// again.
    pub(crate) fn close(&mut self) {
        self.failures = MOST_FAILURES - 1;
    }
}

const MOST_FAILURES: u32 = 3;
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_three_consecutive_failures() {
        let mut breaker = Breaker::new();
        assert!(!breaker.failed() && !breaker.failed());
        breaker.succeeded();
        assert!(!breaker.failed() && !breaker.failed() && breaker.failed());
        // Commands that were already in flight do not open it a second time.
        assert!(!breaker.failed());
    }

    #[test]
    fn stays_open_longer_until_a_command_succeeds() {
        let mut breaker = Breaker::new();
        let mut times = Vec::new();
        for _ in 0..7 {
            times.push(breaker.open().as_millis());
            breaker.close();
            assert!(breaker.failed());
        }
        assert_eq!(times, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
        breaker.succeeded();
        assert_eq!(breaker.open(), SHORTEST);
    }
}
