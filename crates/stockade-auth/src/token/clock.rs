//! [`UnixClock`]: the time of day, as a function that tests can pass in.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock in whole seconds since 1970-01-01 00:00 UTC; by default that of the
/// system.
///
/// ```
/// use stockade_auth::UnixClock;
///
/// let clock = UnixClock::new(|| 1_300_819_380);
/// assert_eq!(clock.now(), Some(1_300_819_380));
/// ```
#[derive(Clone, Default)]
pub struct UnixClock {
    /// `None` is the system's clock.
    custom: Option<Arc<dyn Fn() -> u64 + Send + Sync>>,
}

impl UnixClock {
    /// Makes a clock that calls `now` for the seconds since 1970.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { custom: Some(Arc::new(now)) }
    }

    /// Makes a clock that stands still at `seconds` since 1970.
    #[must_use]
    pub fn at(seconds: u64) -> Self {
        Self::new(move || seconds)
    }

    /// Returns the seconds since 1970; `None` if the system's clock is before
    /// 1970. Then no token is made, and none is valid.
    #[must_use]
    pub fn now(&self) -> Option<u64> {
        match &self.custom {
            Some(now) => Some(now()),
            None => SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs()),
        }
    }

    /// Returns true unless it is that of the system.
    #[doc(hidden)]
    #[must_use]
    pub fn is_custom(&self) -> bool {
        self.custom.is_some()
    }
}

impl fmt::Debug for UnixClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.custom.is_some() { "UnixClock(custom)" } else { "UnixClock(system)" })
    }
}
