//! The generic cell rate algorithm, by the crate `governor`.
//!
//! The crate does the arithmetic on one state. The table of states is our own,
//! because the crate's maps grow without a bound. A limiter is
//! made for each check, which allocates nothing and costs 76 instructions with
//! the decision: one that is kept would have one quota and a clock of its own.
//! ARCHITECTURE.md, "Beyond the specification", has the figures.

use std::cell::Cell;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

use super::algorithm::State;
use super::decision::Decision;
use super::quota::RateLimitPolicy;

/// Decides by GCRA; `state.dead_at` is the theoretical arrival time: then all
/// requests are back.
pub(super) fn gcra(state: &mut State, policy: &RateLimitPolicy, now: u64) -> Decision {
    let limit = policy.limit();
    let period = policy.window() / limit.get();
    // By the invariant of `RateLimitPolicy` only a period below a nanosecond is zero.
    let Some(quota) = Quota::with_period(period.max(Duration::from_nanos(1))) else {
        return refused(limit.get());
    };
    let kept = CellState { arrival: Cell::new(state.dead_at), now };
    let limiter: RateLimiter<_, _, _, StateInformationMiddleware> =
        RateLimiter::new(quota.allow_burst(limit), &kept, Here);
    let (remaining, retry_after) = match limiter.check() {
        Ok(snapshot) => (Some(snapshot.remaining_burst_capacity()), Duration::ZERO),
        Err(until) => (None, until.wait_time_from(Here.now())),
    };
    state.dead_at = kept.arrival.get();
    Decision {
        allowed: remaining.is_some(),
        limit: limit.get(),
        // A refused client has no requests left.
        remaining: remaining.unwrap_or_default(),
        reset: Duration::from_nanos(state.dead_at.saturating_sub(now)),
        retry_after,
    }
}

fn refused(limit: u32) -> Decision {
    let wait = Duration::from_secs(1);
    Decision { allowed: false, limit, remaining: 0, reset: wait, retry_after: wait }
}

/// The state as the crate sees it, with `now` as the beginning of time.
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
        // An arrival time in the past counts as none.
        let ahead = self.arrival.get().checked_sub(self.now).map(Nanos::new);
        let (outcome, ahead) = decide(ahead)?;
        self.arrival.set(self.now.saturating_add(ahead.as_u64()));
        Ok(outcome)
    }
}

/// A clock that stands at the beginning of time.
struct Here;

impl Clock for Here {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new(0)
    }
}
