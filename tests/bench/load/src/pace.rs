//! [`Pace`]: the times at which requests are due.

use std::time::{Duration, Instant};

/// Evenly spaced requests, independent of the responses.
#[derive(Debug)]
pub(crate) struct Pace {
    start: Instant,
    /// Seconds from one request to the next.
    interval: f64,
    /// The number of requests sent since the start.
    sent: u64,
}

impl Pace {
    /// Creates a pace of `rate` requests per second, with the first one at the
    /// start.
    pub(crate) fn new(rate: f64, start: Instant) -> Self {
        Self { start, interval: 1.0 / rate, sent: 0 }
    }

    /// Restarts and discards the requests that were not sent.
    pub(crate) fn restart(&mut self, start: Instant) {
        self.start = start;
        self.sent = 0;
    }

    /// Returns the time when the next request is due. Each time is computed
    /// from the start, so rounding errors do not accumulate.
    pub(crate) fn due(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.sent as f64 * self.interval)
    }

    /// Takes the next request if it is due, and returns its due time.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Instant> {
        let due = self.due();
        if due > now {
            return None;
        }
        self.sent += 1;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_due_at_equal_intervals() {
        let start = Instant::now();
        let mut pace = Pace::new(4.0, start);
        let at = |millis| start + Duration::from_millis(millis);
        assert_eq!(pace.take(start), Some(start));
        assert_eq!(pace.take(at(249)), None);
        assert_eq!(pace.take(at(250)), Some(at(250)));
        // Delayed requests keep their due times and can all be sent at once.
        assert_eq!(pace.take(at(1_000)), Some(at(500)));
        assert_eq!(pace.take(at(1_000)), Some(at(750)));
        assert_eq!(pace.take(at(1_000)), Some(at(1_000)));
        assert_eq!(pace.take(at(1_000)), None);
    }

    #[test]
    fn rounding_errors_do_not_accumulate() {
        let start = Instant::now();
        let mut pace = Pace::new(30_000.0, start);
        let end = start + Duration::from_secs(10);
        let taken = std::iter::from_fn(|| pace.take(end)).count();
        assert!((300_000..=300_001).contains(&taken), "{taken}");
    }

    #[test]
    fn a_restart_discards_due_requests() {
        let start = Instant::now();
        let mut pace = Pace::new(10.0, start);
        let later = start + Duration::from_secs(5);
        pace.restart(later);
        assert_eq!(pace.take(later), Some(later));
        assert_eq!(pace.take(later), None);
    }
}
