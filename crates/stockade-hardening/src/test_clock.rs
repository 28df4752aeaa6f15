//! [`TestClock`]: a clock that tests advance.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A clock that only moves when you call [`advance`](Self::advance).
///
/// It can drive the rate limit of a router (`TestClient::with_clock`, or
/// [`for_router`](Self::for_router)), `with_rate_limit`
/// ([`for_route_limits`](Self::for_route_limits)), and token expiry
/// ([`for_tokens`](Self::for_tokens)). Clones share the time.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::testing::TestClock;
///
/// let clock = TestClock::at(1_000_000_000);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.unix_seconds(), 1_000_000_060);
/// assert_eq!(clock.for_tokens().now(), Some(1_000_000_060));
/// ```
#[derive(Clone)]
pub struct TestClock {
    start: Instant,
    /// The start, in seconds since 1970.
    start_seconds: u64,
    /// The milliseconds since the start.
    millis: Arc<AtomicU64>,
}

impl TestClock {
    /// Creates a clock at 2001-09-09 01:46:40 UTC, which is 1,000,000,000
    /// seconds since 1970.
    #[must_use]
    pub fn new() -> Self {
        Self::at(1_000_000_000)
    }

    /// Creates a clock at this time, in seconds since 1970-01-01 00:00 UTC.
    #[must_use]
    pub fn at(unix_seconds: u64) -> Self {
        let millis = Arc::new(AtomicU64::new(0));
        Self { start: Instant::now(), start_seconds: unix_seconds, millis }
    }

    /// Advances the clock by whole milliseconds.
    pub fn advance(&self, time: Duration) {
        // The clock saturates at more than 500 million years.
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }

    /// Returns the time in whole seconds since 1970-01-01 00:00 UTC.
    #[must_use]
    pub fn unix_seconds(&self) -> u64 {
        self.start_seconds.saturating_add(self.passed().as_secs())
    }

    /// Returns the time as an `Instant`.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.start + self.passed()
    }

    /// Returns the clock for
    /// [`RouterOptions::clock`](stockade_routing::RouterOptions::clock).
    #[must_use]
    pub fn for_router(&self) -> stockade_routing::Clock {
        stockade_routing::Clock::new(self.for_route_limits())
    }

    /// Returns the clock for `with_rate_limit(…).clock(…)`.
    pub fn for_route_limits(&self) -> impl Fn() -> Instant + Send + Sync + 'static + use<> {
        let clock = self.clone();
        move || clock.now()
    }

    /// Returns the clock for `TokenVerifier::clock` and `TokenIssuer::clock`.
    #[must_use]
    pub fn for_tokens(&self) -> stockade_auth::UnixClock {
        let clock = self.clone();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        stockade_auth::UnixClock::from_millis(move || {
            clock.start_seconds.saturating_mul(1_000).saturating_add(millis(clock.passed()))
        })
    }

    fn passed(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TestClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TestClock").field(&self.unix_seconds()).finish()
    }
}
