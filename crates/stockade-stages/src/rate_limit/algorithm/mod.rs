//! [`Algorithm`]: the rate limiting algorithms, as functions of data.
//!
//! Hot: they do not allocate; times are nanoseconds since the limiter was
//! built.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;

use super::decision::Decision;
#[cfg(feature = "gcra")]
use super::gcra::gcra;
use super::quota::RateLimitPolicy;

/// The algorithm that counts requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Algorithm {
    /// A window begins with the first request of a client, and the next window
    /// with the first request after its end. This is the default and the
    /// cheapest algorithm. Up to twice the limit may pass in a short time
    /// around the end of a window.
    #[default]
    FixedWindow,
    /// A window that also counts a part of the previous window's requests: the
    /// fraction of the previous window that is less than one window ago. This
    /// avoids a burst at the end of a window. A client that keeps sending may
    /// pass nearly twice the limit in the time of one window, evenly spread.
    SlidingWindow,
    /// The generic cell rate algorithm (GCRA), from the crate `governor`:
    /// requests become available one by one, evenly over the window. A client
    /// that sends all requests at once, and then each one that becomes
    /// available, passes nearly twice the limit in its first window. Needs the
    /// feature `gcra`.
    #[cfg(feature = "gcra")]
    Gcra,
}

/// All algorithms of the enabled features.
#[cfg(test)]
pub(super) const ALL: &[Algorithm] = &[
    Algorithm::FixedWindow,
    Algorithm::SlidingWindow,
    #[cfg(feature = "gcra")]
    Algorithm::Gcra,
];

/// The state of a key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct State {
    /// The time until all requests are forgotten; 0 for a new key.
    pub(super) dead_at: u64,
    /// Requests that passed in the current window.
    pub(super) current: u32,
    /// Requests that passed in the previous window, for the sliding window.
    ///
    /// GCRA does not count windows and stores its period in these two fields.
    pub(super) previous: u32,
}

impl Algorithm {
    /// Charges a request that counts as `cost` requests: all of them, or none.
    ///
    /// The policy may differ from the policy of the last charge. The count then
    /// continues, and it ends no later than the count of a new key would.
    #[inline]
    pub(super) fn charge(
        self,
        state: &mut State,
        policy: &RateLimitPolicy,
        cost: NonZeroU32,
        now: u64,
    ) -> Decision {
        match self {
            Self::FixedWindow => fixed_window(state, policy, cost.get(), now),
            Self::SlidingWindow => sliding_window(state, policy, cost.get(), now),
            #[cfg(feature = "gcra")]
            Self::Gcra => gcra(state, policy, cost, now),
        }
    }
}

/// Decides with fixed windows; `state.dead_at` is the end of the window.
#[inline]
fn fixed_window(state: &mut State, policy: &RateLimitPolicy, cost: u32, now: u64) -> Decision {
    let limit = policy.limit().get();
    let end = now.saturating_add(policy.window_nanos());
    if now >= state.dead_at {
        *state = State { dead_at: end, ..State::default() };
    }
    state.dead_at = state.dead_at.min(end);
    let allowed = cost <= limit.saturating_sub(state.current);
    state.current += if allowed { cost } else { 0 };
    let left = Duration::from_nanos(state.dead_at.saturating_sub(now));
    Decision {
        allowed,
        limit,
        remaining: limit.saturating_sub(state.current),
        reset: left,
        retry_after: if allowed { Duration::ZERO } else { left },
    }
}

/// Decides with sliding windows; `state.dead_at` is the end of the window after
/// the current one.
fn sliding_window(state: &mut State, policy: &RateLimitPolicy, cost: u32, now: u64) -> Decision {
    let (limit, window) = (policy.limit().get(), policy.window_nanos());
    state.dead_at = state.dead_at.min(now.saturating_add(window).saturating_add(window));
    slide(state, window, now);
    let end = state.dead_at.saturating_sub(window);
    // The part of the previous window that is less than one window ago.
    let left = end.saturating_sub(now).min(window);

    let whole = u128::from(window);
    let capacity = u128::from(limit) * whole;
    let used = u128::from(state.previous) * u128::from(left) + u128::from(state.current) * whole;
    let more = u128::from(cost) * whole;
    let allowed = used + more <= capacity;
    let used = if allowed { used + more } else { used };
    state.current += if allowed { cost } else { 0 };

    let retry_after = if allowed { 0 } else { sliding_wait(*state, limit, cost, window, left) };
    let reset = if state.current == 0 { end } else { state.dead_at };
    Decision {
        allowed,
        limit,
        remaining: u32::try_from(capacity.saturating_sub(used) / whole).unwrap_or(limit),
        reset: Duration::from_nanos(reset.saturating_sub(now)),
        retry_after: Duration::from_nanos(retry_after),
    }
}

/// Begins the next window if the current one has ended.
fn slide(state: &mut State, window: u64, now: u64) {
    if now >= state.dead_at {
        let dead_at = now.saturating_add(window).saturating_add(window);
        *state = State { dead_at, ..State::default() };
    } else if now >= state.dead_at.saturating_sub(window) {
        let dead_at = state.dead_at.saturating_add(window);
        *state = State { dead_at, current: 0, previous: state.current };
    }
}

/// Returns how long a rejected client must wait if it sends nothing in between;
/// `left` is the rest of the current window.
fn sliding_wait(state: State, limit: u32, cost: u32, window: u64, left: u64) -> u64 {
    // The requests of a window that leave room for this one.
    let others = limit.saturating_sub(cost);
    // The part of the previous window that leaves room for one more request.
    let share = |counted: u32, free: u32| {
        let share = u128::from(free) * u128::from(window) / u128::from(counted.max(1));
        // A value that does not fit is longer than the window.
        u64::try_from(share).unwrap_or(u64::MAX).min(window)
    };
    if state.current <= others && cost <= limit {
        return left.saturating_sub(share(state.previous, others - state.current));
    }
    // The request fits in the next window, after the current one.
    left.saturating_add(window - share(state.current, others))
}

#[cfg(test)]
mod tests;
