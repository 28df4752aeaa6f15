//! Runs a rate-limit algorithm as a script and reads its result.

use std::time::Duration;

use stockade_stages::rate_limit::{Algorithm, Decision, RateLimitPolicy};

use crate::script::Script;

/// An algorithm and its script.
pub(super) struct Counting {
    algorithm: Algorithm,
    kind: Kind,
    script: Script,
}

/// The algorithms of the scripts. [`Algorithm`] includes GCRA only with a
/// feature of another crate.
#[derive(Clone, Copy)]
enum Kind {
    Fixed,
    Sliding,
    Gcra,
}

/// The number of requests to charge.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestedCount {
    /// The maximum number to grant.
    most: u32,
    /// The minimum number. If fewer are left, none is granted.
    least: u32,
}

impl RequestedCount {
    /// Requests up to `most` charges.
    pub(super) fn up_to(most: u32) -> Self {
        Self { most, least: 1 }
    }

    /// Requests one charge that counts as `cost` requests.
    pub(super) fn all(cost: u32) -> Self {
        Self { most: cost, least: cost }
    }
}

/// The result of a script.
pub(super) struct Granted {
    /// The number of granted requests.
    pub(super) granted: u32,
    /// The decision. Its `remaining` is the number left in Redis.
    pub(super) decision: Decision,
}

impl Counting {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        let (kind, code) = match algorithm {
            Algorithm::FixedWindow => (Kind::Fixed, include_str!("fixed_window.lua")),
            Algorithm::SlidingWindow => (Kind::Sliding, include_str!("sliding_window.lua")),
            // GCRA depends on a feature of another crate, so it cannot be named
            // here.
            _ => (Kind::Gcra, include_str!("gcra.lua")),
        };
        Self { algorithm, kind, script: Script::new(code) }
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn script(&self) -> &Script {
        &self.script
    }

    /// Returns the algorithm's name in Redis keys.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Fixed => "fixed",
            Kind::Sliding => "sliding",
            Kind::Gcra => "gcra",
        }
    }

    /// Returns true if leased requests expire at a known time.
    pub(super) fn has_an_end(&self) -> bool {
        matches!(self.kind, Kind::Fixed)
    }

    /// Returns the arguments of the script: the limit, the window, the wanted
    /// requests, and the minimum.
    pub(super) fn arguments(
        &self,
        policy: &RateLimitPolicy,
        requested: RequestedCount,
    ) -> [u64; 4] {
        let window = match self.kind {
            Kind::Fixed => policy.window().as_nanos().div_ceil(1_000_000),
            Kind::Sliding | Kind::Gcra => policy.window().as_nanos().div_ceil(1_000),
        };
        // A year in microseconds has 45 bits.
        let window = u64::try_from(window).unwrap_or(u64::MAX);
        [policy.limit().get().into(), window, requested.most.into(), requested.least.into()]
    }

    /// Parses the result. Returns `None` if it does not match the script.
    pub(super) fn read(
        &self,
        policy: &RateLimitPolicy,
        requested: RequestedCount,
        answer: &[i64],
    ) -> Option<Granted> {
        // The maximum number of other requests that leave room for the wanted
        // ones.
        let others = policy.limit().get().saturating_sub(requested.least);
        let limit = policy.limit().get();
        let count = |value: i64| u32::try_from(value).ok();
        let time = |value: i64| u64::try_from(value).ok();
        let (granted, remaining, reset, retry_after) = match (self.kind, answer) {
            (Kind::Fixed, &[granted, used, ttl]) => {
                let end = Duration::from_millis(time(ttl)?);
                (count(granted)?, limit.saturating_sub(count(used)?), end, end)
            }
            (Kind::Sliding, &[granted, current, previous, left]) => {
                let [_, window, ..] = self.arguments(policy, requested);
                let state = Sliding {
                    limit,
                    others,
                    window,
                    current: count(current)?,
                    previous: count(previous)?,
                    left: time(left)?,
                };
                (count(granted)?, state.remaining(), state.reset(), state.wait())
            }
            (Kind::Gcra, &[granted, back]) => {
                let [_, window, ..] = self.arguments(policy, requested);
                let (period, back) = (window.div_ceil(limit.into()), time(back)?);
                let free = (period * u64::from(limit)).saturating_sub(back) / period;
                let wait = back.saturating_sub(period * u64::from(others));
                let remaining = u32::try_from(free).unwrap_or(limit);
                let (reset, wait) = (Duration::from_micros(back), Duration::from_micros(wait));
                (count(granted)?, remaining, reset, wait)
            }
            _ => return None,
        };
        let mut decision = match granted {
            0 => Decision::refuse(limit, reset, retry_after),
            _ => Decision::pass(limit, remaining, reset),
        };
        // Cheaper requests may still pass.
        decision.remaining = remaining;
        Some(Granted { granted, decision })
    }
}

/// The state of a sliding window after a charge, in microseconds.
struct Sliding {
    limit: u32,
    /// The maximum number of other requests that leave room for the rejected
    /// ones.
    others: u32,
    window: u64,
    current: u32,
    previous: u32,
    /// The rest of the current window.
    left: u64,
}

impl Sliding {
    fn remaining(&self) -> u32 {
        let whole = u128::from(self.window);
        let used =
            u128::from(self.previous) * u128::from(self.left) + u128::from(self.current) * whole;
        let free = (u128::from(self.limit) * whole).saturating_sub(used) / whole;
        u32::try_from(free).unwrap_or(self.limit)
    }

    fn reset(&self) -> Duration {
        let more = if self.current == 0 { 0 } else { self.window };
        Duration::from_micros(self.left + more)
    }

    /// Returns the time until a rejected client can retry, if no other requests
    /// arrive.
    fn wait(&self) -> Duration {
        // The share of the previous window at which one more request fits.
        let share = |counted: u32, free: u32| {
            let share = u128::from(free) * u128::from(self.window) / u128::from(counted.max(1));
            u64::try_from(share).unwrap_or(u64::MAX).min(self.window)
        };
        let micros = if self.current < self.limit && self.current <= self.others {
            self.left.saturating_sub(share(self.previous, self.others - self.current))
        } else {
            self.left + (self.window - share(self.current, self.others))
        };
        Duration::from_micros(micros)
    }
}

#[cfg(test)]
mod tests {
    use stockade_stages::rate_limit::{MINUTE, Quota, SECOND};

    use super::*;

    #[track_caller]
    fn check(algorithm: Algorithm, answer: &[i64], expected: Option<(u32, u32, u64, u64)>) {
        let policy = RateLimitPolicy::new("default", 100 / MINUTE).unwrap();
        let read =
            Counting::new(algorithm).read(&policy, RequestedCount::up_to(1), answer).map(|it| {
                let Decision { remaining, reset, retry_after, .. } = it.decision;
                assert_eq!(it.decision.allowed, it.granted > 0);
                let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap();
                (it.granted, remaining, millis(reset), millis(retry_after))
            });
        assert_eq!(read, expected, "{algorithm:?} {answer:?}");
    }

    #[test]
    fn replies_become_decisions() {
        use Algorithm::{FixedWindow, Gcra, SlidingWindow};
        check(FixedWindow, &[1, 1, 60_000], Some((1, 99, 60_000, 0)));
        check(FixedWindow, &[6, 60, 1_500], Some((6, 40, 1_500, 0)));
        check(FixedWindow, &[0, 100, 1_500], Some((0, 0, 1_500, 1_500)));
        // Half of the previous 80 requests still count.
        check(SlidingWindow, &[1, 10, 80, 30_000_000], Some((1, 50, 90_000, 0)));
        // One more request fits when the share is 0.99.
        check(SlidingWindow, &[0, 0, 100, 60_000_000], Some((0, 0, 60_000, 600)));
        check(SlidingWindow, &[0, 100, 0, 60_000_000], Some((0, 0, 120_000, 60_600)));
        check(Gcra, &[1, 600_000], Some((1, 99, 600, 0)));
        check(Gcra, &[0, 60_000_000], Some((0, 0, 60_000, 600)));
        for wrong in [&[][..], &[1], &[-1, 1, 1], &[1, 1, -1], &[1, 2, 3, 4, 5]] {
            check(FixedWindow, wrong, None);
        }
    }

    #[test]
    fn windows_are_rounded_up() {
        let arguments = |algorithm, quota: Quota| {
            let policy = RateLimitPolicy::new("a", quota).unwrap();
            Counting::new(algorithm).arguments(&policy, RequestedCount::up_to(1))
        };
        let short = Quota::new(5, Duration::from_nanos(1));
        assert_eq!(arguments(Algorithm::FixedWindow, short), [5, 1, 1, 1]);
        assert_eq!(arguments(Algorithm::Gcra, short), [5, 1, 1, 1]);
        assert_eq!(arguments(Algorithm::SlidingWindow, 7 / SECOND), [7, 1_000_000, 1, 1]);
    }
}
