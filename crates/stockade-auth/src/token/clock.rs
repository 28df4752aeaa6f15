//! [`UnixClock`]: the wall clock, which tests can replace.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock in seconds or milliseconds since 1970-01-01 00:00 UTC. Default: the
/// system clock.
///
/// ```
/// use stockade_auth::UnixClock;
///
/// let clock = UnixClock::new(|| 1_300_819_380);
/// assert_eq!(clock.now(), Some(1_300_819_380));
///
/// let clock = UnixClock::at_millis(1_300_819_380_250);
/// assert_eq!(clock.now(), Some(1_300_819_380));
/// assert_eq!(clock.now_millis(), Some(1_300_819_380_250));
/// ```
#[derive(Clone, Default)]
pub struct UnixClock {
    /// `None` for the system clock.
    custom: Option<Custom>,
}

#[derive(Clone)]
enum Custom {
    Seconds(Arc<dyn Fn() -> u64 + Send + Sync>),
    Millis(Arc<dyn Fn() -> u64 + Send + Sync>),
}

/// One reading of a clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) seconds: u64,
    pub(super) millis: u64,
}

impl UnixClock {
    /// Creates a clock that calls `now` for the seconds since 1970.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { custom: Some(Custom::Seconds(Arc::new(now))) }
    }

    /// Creates a clock that calls `now` for the milliseconds since 1970.
    pub fn from_millis(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { custom: Some(Custom::Millis(Arc::new(now))) }
    }

    /// Creates a fixed clock at `millis` milliseconds since 1970.
    #[must_use]
    pub fn at_millis(millis: u64) -> Self {
        Self::from_millis(move || millis)
    }

    /// Creates a fixed clock at `seconds` since 1970.
    #[must_use]
    pub fn at(seconds: u64) -> Self {
        Self::new(move || seconds)
    }

    /// Returns the seconds since 1970, or `None` if the system clock is earlier.
    /// In this case no token can be issued, and none is valid.
    #[must_use]
    pub fn now(&self) -> Option<u64> {
        match &self.custom {
            Some(Custom::Seconds(now)) => Some(now()),
            Some(Custom::Millis(now)) => Some(now() / 1_000),
            None => SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs()),
        }
    }

    /// Returns the milliseconds since 1970. A clock created by
    /// [`new`](Self::new) or [`at`](Self::at) has a resolution of one second.
    /// Returns `None` as [`now`](Self::now) does.
    #[must_use]
    pub fn now_millis(&self) -> Option<u64> {
        self.read().map(|reading| reading.millis)
    }

    /// Reads the clock once.
    pub(super) fn read(&self) -> Option<Reading> {
        Some(match &self.custom {
            Some(Custom::Seconds(now)) => {
                let seconds = now();
                Reading { seconds, millis: seconds.saturating_mul(1_000) }
            }
            Some(Custom::Millis(now)) => {
                let millis = now();
                Reading { seconds: millis / 1_000, millis }
            }
            None => {
                let time = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                Reading { seconds: time.as_secs(), millis }
            }
        })
    }

    /// Returns true unless it is the system clock.
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
