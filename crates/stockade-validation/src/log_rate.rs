//! [`LogRate`]: limits the log lines about an event that any request can cause
//! to one per second.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A limiter that allows one log line per second and counts the suppressed
/// lines.
#[derive(Debug, Default)]
pub struct LogRate {
    /// The second after the last line; 0 before the first line.
    after: AtomicU64,
    unlogged: AtomicU64,
}

impl LogRate {
    /// Returns the number of lines suppressed since the last line, or `None` if
    /// no line is allowed now.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.next_at(START.elapsed())
    }

    fn next_at(&self, now: Duration) -> Option<u64> {
        let second = now.as_secs().saturating_add(1);
        if self.after.fetch_max(second, Ordering::Relaxed) >= second {
            self.unlogged.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(self.unlogged.swap(0, Ordering::Relaxed))
    }
}

/// The start of the clock that all limiters share.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_one_line_a_second() {
        let rate = LogRate::default();
        for (millis, expected) in [
            (0, Some(0)),
            (0, None),
            (999, None),
            (1_000, Some(2)),
            (1_001, None),
            (1_999, None),
            // Another thread read the clock earlier.
            (999, None),
            (5_000, Some(3)),
            (6_500, Some(0)),
        ] {
            assert_eq!(rate.next_at(Duration::from_millis(millis)), expected, "{millis}");
        }
    }
}
