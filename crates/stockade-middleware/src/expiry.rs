//! Times at which what a store in memory keeps is over.

use std::time::{Duration, Instant};

/// Returns the time after `now`; a year later where the clock has no such time.
pub(crate) fn later(now: Instant, time: Duration) -> Instant {
    let year = || now.checked_add(Duration::from_secs(31_536_000));
    now.checked_add(time).or_else(year).unwrap_or(now)
}

/// The number of items whose time is over that a call removes: two, so that they go
/// faster than they come.
pub(crate) const SWEPT_BY_A_CALL: usize = 2;
