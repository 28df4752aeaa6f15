//! The generic cell rate algorithm (GCRA), from the crate `governor`.
//!
//! The crate does the arithmetic on one state. The table of states is our own,
//! because the crate's maps grow without a bound. A limiter is created for each
//! check, which does not allocate and costs 76 instructions including the
//! decision. A persistent limiter would have only one quota, and its own clock.
//! docs/decisions/034-gcra.md has the figures.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

use super::algorithm::State;
use super::decision::Decision;
use super::quota::{RateLimitPolicy, nanos};

/// Decides with GCRA; `state.dead_at` is the theoretical arrival time. All
/// requests are available again at that time.
pub(super) fn gcra(
    state: &mut State,
    policy: &RateLimitPolicy,
    cost: NonZeroU32,
    now: u64,
) -> Decision {
    let limit = policy.limit();
    // Only a period below a nanosecond can be zero, because of the invariant of
    // `RateLimitPolicy`.
    let period = (policy.window() / limit.get()).max(Duration::from_nanos(1));
    let Some(quota) = Quota::with_period(period) else {
        return refused(limit.get(), Duration::from_secs(1));
    };
    change_period(state, nanos(period), limit, now);
    let kept = CellState { arrival: Cell::new(state.dead_at), now };
    let limiter: RateLimiter<_, _, _, StateInformationMiddleware> =
        RateLimiter::new(quota.allow_burst(limit), &kept, Here);
    // The crate does not check its multiplication for overflow.
    let outcome = if cost > limit { None } else { limiter.check_n(cost).ok() };
    let (remaining, retry_after) = match outcome {
        Some(Ok(snapshot)) => (Some(snapshot.remaining_burst_capacity()), Duration::ZERO),
        Some(Err(until)) => (None, until.wait_time_from(Here.now())),
        // The cost is above the limit, so the request never passes.
        None => (None, policy.window()),
    };
    state.dead_at = kept.arrival.get();
    let allowed = remaining.is_some();
    // A cheaper request may pass after a rejection.
    let remaining = remaining.unwrap_or_else(|| {
        let used = Duration::from_nanos(state.dead_at.saturating_sub(now));
        let free = (period * limit.get()).saturating_sub(used).as_nanos() / period.as_nanos();
        u32::try_from(free).unwrap_or_default()
    });
    Decision {
        allowed,
        limit: limit.get(),
        remaining,
        reset: Duration::from_nanos(state.dead_at.saturating_sub(now)),
        retry_after,
    }
}

/// Preserves the number of unavailable requests when another quota applies.
fn change_period(state: &mut State, period: u64, limit: NonZeroU32, now: u64) {
    let known = u64::from(state.previous) << 32 | u64::from(state.current);
    if known == period {
        return;
    }
    if known != 0 {
        let used = state.dead_at.saturating_sub(now).div_ceil(known).min(limit.get().into());
        state.dead_at = now.saturating_add(used.saturating_mul(period));
    }
    // The two halves of the period.
    let [high, low] = [period >> 32, period & u64::from(u32::MAX)];
    state.previous = u32::try_from(high).unwrap_or(u32::MAX);
    state.current = u32::try_from(low).unwrap_or(u32::MAX);
}

fn refused(limit: u32, wait: Duration) -> Decision {
    Decision { allowed: false, limit, remaining: 0, reset: wait, retry_after: wait }
}

/// The state for the crate, with `now` as the beginning of time.
struct CellState {
    /// The theoretical arrival time.
    arrival: Cell<u64>,
    now: u64,
}

impl StateStore for &CellState {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        // An arrival time in the past is ignored.
        let ahead = self.arrival.get().checked_sub(self.now).map(Nanos::new);
        let (outcome, ahead) = decide(ahead)?;
        self.arrival.set(self.now.saturating_add(ahead.as_u64()));
        Ok(outcome)
    }
}

/// A clock that always shows the beginning of time.
struct Here;

impl Clock for Here {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new(0)
    }
}
