//! [`TokenBucket`]: the limit of messages that a client may send per second.

use tokio::time::Instant;

/// A token bucket with room for the messages of one second.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    per_second: u32,
    /// The number of messages that are allowed now.
    left: f64,
    seen: Instant,
}

impl TokenBucket {
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second, left: f64::from(per_second), seen: Instant::now() }
    }

    /// Returns true if one more message is allowed now, and counts it.
    pub(crate) fn allows(&mut self) -> bool {
        self.allows_at(Instant::now())
    }

    fn allows_at(&mut self, now: Instant) -> bool {
        let most = f64::from(self.per_second);
        let passed = now.saturating_duration_since(self.seen).as_secs_f64();
        self.seen = now;
        self.left = (self.left + passed * most).min(most);
        let allowed = self.left >= 1.0;
        if allowed {
            self.left -= 1.0;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn saves_up_at_most_one_second() {
        let mut rate = TokenBucket::new(3);
        let start = rate.seen;
        let allowed = |rate: &mut TokenBucket, after: u64, count: usize| {
            let now = start + Duration::from_millis(after);
            (0..count).filter(|_| rate.allows_at(now)).count()
        };
        assert_eq!(allowed(&mut rate, 0, 5), 3);
        assert_eq!(allowed(&mut rate, 400, 5), 1);
        assert_eq!(allowed(&mut rate, 60_000, 5), 3);
    }
}
