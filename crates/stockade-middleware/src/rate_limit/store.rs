//! [`RateStore`]: the store of the counts.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use stockade_core::BoxFuture;
use stockade_errors::ApiError;

use super::decision::Decision;
use super::key::RateKey;
use super::quota::Policy;

/// A store of counts: in memory, or outside for several processes.
///
/// A store charges atomically: of any number of simultaneous requests it lets
/// no more pass than the policy allows.
pub trait RateStore: Send + Sync {
    /// Returns true if [`charge`](Self::charge) may have to wait. Default:
    /// false.
    fn waits(&self) -> bool {
        false
    }

    /// Charges one request to `key` and decides about it.
    ///
    /// `now` is the time since the limiter was built, from a clock that never
    /// goes back. It is comparable within one process only, so an outside store
    /// needs its own clock. A store that serves several limiters can tell them
    /// apart by the name of the policy. [`MemoryStore`] does not, so limiters
    /// that share one share its counts.
    ///
    /// [`MemoryStore`]: super::MemoryStore
    fn charge<'a>(&'a self, key: &'a RateKey, policy: &'a Policy, now: Duration) -> Charge<'a>;
}

/// The answer of a [`RateStore`].
#[must_use]
pub enum Charge<'a> {
    /// The decision, at once.
    Now(Decision),
    /// The decision later. An error means that the store failed;
    /// [`StoreFailure`] decides about the request then.
    Later(BoxFuture<'a, Result<Decision, ApiError>>),
}

/// The treatment of a request when an asynchronous store fails or is too slow.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreFailure {
    /// The request is refused with the error of the store, or with 503 and
    /// `Retry-After` if the store was too slow. No request passes uncounted.
    #[default]
    Refuse,
    /// The request passes uncounted, so a client that can bring the store down
    /// is no longer limited. The failure is logged at error level, at most once
    /// a second.
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
