//! [`Breaker`]: when a connection that is there is not asked any more.

use std::time::Duration;

/// Counts failures in a row, as data: the caller waits and probes.
#[derive(Debug)]
pub(crate) struct Breaker {
    failures: u32,
    /// The time for which the breaker opens the next time.
    next: Duration,
}

impl Breaker {
    pub(crate) fn new() -> Self {
        Self { failures: 0, next: SHORTEST }
    }

    /// Notes a command without an answer in time. Returns true if the breaker opens
    /// by it.
    pub(crate) fn failed(&mut self) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.failures == MOST_FAILURES
    }

    /// Notes an answer.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::new();
    }

    /// Returns for how long it is open. Each time is twice as long as the one before,
    /// until a command is answered again.
    pub(crate) fn open(&mut self) -> Duration {
        let time = self.next;
        self.next = (time * 2).min(LONGEST);
        time
    }

    /// Closes it after a probe was answered. The next failure opens it again.
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
    fn three_failures_in_a_row_open_it() {
        let mut breaker = Breaker::new();
        assert!(!breaker.failed() && !breaker.failed());
        breaker.succeeded();
        assert!(!breaker.failed() && !breaker.failed() && breaker.failed());
        // Those that were under way open it no second time.
        assert!(!breaker.failed());
    }

    #[test]
    fn it_opens_for_longer_until_a_command_is_answered() {
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
