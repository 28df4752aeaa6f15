//! [`Clock`]: the source of time for stages and helpers.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A monotonic clock: the system clock, or a function for tests.
///
/// ```
/// use std::time::Instant;
///
/// use stockade::Clock;
///
/// let start = Instant::now();
/// let stopped = Clock::new(move || start);
/// assert_eq!(stopped.now(), start);
/// assert!(Clock::default().now() >= start);
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// Creates a clock that calls `now` to get the time.
    #[must_use]
    pub fn new(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Instant {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Instant::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
