//! [`RateStore`]: where what is counted lies.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
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
    /// what becomes of the request then is for [`StoreFailure`] to say.
    Later(BoxFuture<'a, Result<Decision, ApiError>>),
}

/// What becomes of a request when a store that waits fails or is too slow.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreFailure {
    /// It is refused, with the error of the store, or with 503 and `Retry-After`
    /// if the store was too slow: nothing passes uncounted.
    #[default]
    Refuse,
    /// It passes uncounted: whoever can bring the store down is no longer
    /// limited. It is logged at error level, at most once a second.
    Pass,
}

impl fmt::Debug for Charge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(decision) => f.debug_tuple("Now").field(decision).finish(),
            Self::Later(_) => f.debug_tuple("Later").finish_non_exhaustive(),
        }
    }
}
