//! [`RateStore`]: where what is counted lies.

use std::fmt;
use std::time::Duration;

use stockade_core::BoxFuture;
use stockade_errors::ApiError;

use super::decision::Decision;
use super::key::RateKey;
use super::quota::Policy;

/// Where what is counted lies: in memory, or elsewhere for several processes.
///
/// A store charges atomically: of any number of requests at the same time it
/// lets no more pass than the policy allows.
pub trait RateStore: Send + Sync {
    /// Whether [`charge`](Self::charge) may have to wait. Default: false.
    fn waits(&self) -> bool {
        false
    }

    /// Charges one request to `key` and decides on it.
    ///
    /// `now` is the time since the limiter was built, from a clock that never
    /// goes back. It is only comparable within one process: a store elsewhere
    /// has its own clock. A store that serves several limiters can tell them
    /// apart by the name of the policy; [`MemoryStore`] does not, so limiters
    /// that share one share what it counts.
    ///
    /// [`MemoryStore`]: super::MemoryStore
    fn charge<'a>(&'a self, key: &'a RateKey, policy: &'a Policy, now: Duration) -> Charge<'a>;
}

/// The answer of a [`RateStore`].
#[must_use]
pub enum Charge<'a> {
    /// The store knows at once.
    Now(Decision),
    /// The store asks elsewhere. An error of it says that the store failed;
    /// whether the request then passes is for the caller to say.
    Later(BoxFuture<'a, Result<Decision, ApiError>>),
}

impl fmt::Debug for Charge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(decision) => f.debug_tuple("Now").field(decision).finish(),
            Self::Later(_) => f.debug_tuple("Later").finish_non_exhaustive(),
        }
    }
}
