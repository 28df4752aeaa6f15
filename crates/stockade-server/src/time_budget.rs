//! [`TimeBudget`]: how long the server continues to wait for a client.
//!
//! The same rule applies to both directions. Waiting for a client uses up its
//! time, and every transferred byte gives some time back. A client that
//! sustains the [rate](StallPolicy::rate) can therefore continue forever; a
//! client that only trickles bytes cannot. The budget is capped, so no number
//! of bytes allows a long silence.

use std::time::Duration;

/// The minimum rate of a client, and its longest silence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StallPolicy {
    /// The longest silence.
    pub(crate) most: Duration,
    /// The number of bytes that earn one second; 0 if each byte restores the
    /// full time.
    pub(crate) rate: u32,
}

impl StallPolicy {
    /// Returns the time that bytes earn.
    fn earned(self, bytes: u64) -> Duration {
        match (bytes, self.rate) {
            (0, _) => Duration::ZERO,
            (_, 0) => self.most,
            (bytes, rate) => {
                Duration::from_micros(bytes.saturating_mul(1_000_000) / u64::from(rate))
            }
        }
    }
}

/// The remaining time of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TimeBudget {
    policy: StallPolicy,
    left: Duration,
}

impl TimeBudget {
    /// Creates the full budget of a policy.
    pub(crate) fn full(policy: StallPolicy) -> Self {
        Self { policy, left: policy.most }
    }

    /// Creates the smaller budget of a client that has not sent anything yet.
    pub(crate) fn short(policy: StallPolicy) -> Self {
        Self { policy, left: policy.most.min(GRACE) }
    }

    pub(crate) fn left(self) -> Duration {
        self.left
    }

    /// Records bytes transferred after a wait.
    pub(crate) fn moved(&mut self, bytes: u64, waited: Duration) {
        let left = self.left.saturating_add(self.policy.earned(bytes));
        self.left = left.saturating_sub(waited).min(self.policy.most);
    }
}

/// The longest wait for a client that has not sent anything yet: 10 s.
const GRACE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the remaining time in ms. Each step has a number of bytes and the
    /// wait before them in ms. The rate is 500 bytes per second, the maximum 30
    /// s.
    #[track_caller]
    fn check(mut budget: TimeBudget, steps: &[(u64, u64)], left: u64) {
        for (bytes, waited) in steps {
            budget.moved(*bytes, Duration::from_millis(*waited));
        }
        assert_eq!(budget.left(), Duration::from_millis(left), "{steps:?}");
    }

    fn policy() -> StallPolicy {
        StallPolicy { most: Duration::from_secs(30), rate: 500 }
    }

    #[test]
    fn drips_use_up_the_budget_and_bytes_restore_it() {
        let cases: &[(&[(u64, u64)], u64)] = &[
            (&[], 30_000),
            (&[(500, 0)], 30_000),
            (&[(0, 1_000)], 29_000),
            (&[(500, 1_000)], 30_000),
            (&[(250, 1_000), (250, 1_000)], 29_000),
            (&[(0, 20_000), (0, 20_000)], 0),
            (&[(1 << 40, 0), (0, 29_000)], 1_000),
            (&[(u64::MAX, 29_000)], 30_000),
            // 64 bytes every 5 s.
            (&[(64, 5_000), (64, 5_000), (64, 5_000), (64, 5_000)], 10_512),
        ];
        for (steps, left) in cases {
            check(TimeBudget::full(policy()), steps, *left);
        }
    }

    #[test]
    fn an_initial_budget_starts_smaller() {
        let cases: &[(&[(u64, u64)], u64)] = &[
            (&[], 10_000),
            (&[(1_000, 0)], 12_000),
            (&[(1 << 20, 9_000)], 30_000),
            // A few bytes every 3 s.
            (&[(5, 3_000), (5, 3_000), (5, 3_000)], 1_030),
            (&[(5, 3_000), (5, 3_000), (5, 3_000), (5, 3_000)], 0),
        ];
        for (steps, left) in cases {
            check(TimeBudget::short(policy()), steps, *left);
        }
        let hasty = StallPolicy { most: Duration::from_millis(200), ..policy() };
        check(TimeBudget::short(hasty), &[], 200);
    }

    #[test]
    fn each_byte_restores_the_full_budget_if_no_rate_is_set() {
        let budget = TimeBudget::full(StallPolicy { rate: 0, ..policy() });
        check(budget, &[(1, 29_000)], 30_000);
        check(budget, &[(0, 29_000)], 1_000);
    }
}
