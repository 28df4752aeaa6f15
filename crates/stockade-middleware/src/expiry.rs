//! Expiry times of the in-memory stores.

use std::time::{Duration, Instant};

/// Returns `now` plus `time`, or one year after `now` if the clock cannot
/// represent that.
pub(crate) fn later(now: Instant, time: Duration) -> Instant {
    let year = || now.checked_add(Duration::from_secs(31_536_000));
    now.checked_add(time).or_else(year).unwrap_or(now)
}

/// The number of expired items that each call removes: two, so they disappear
/// faster than new ones arrive.
pub(crate) const SWEPT_BY_A_CALL: usize = 2;
