//! [`RateStore`]: the store of the rate limit counts.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;

use super::algorithm::Algorithm;
use super::decision::Decision;
use super::key::RateKey;
use super::quota::RateLimitPolicy;

/// A store of counts, in memory or external for several processes.
///
/// A store charges atomically: simultaneous requests never exceed the limit of
/// the policy.
pub trait RateStore: Send + Sync {
    /// Returns true if [`charge`](Self::charge) may have to wait. Default:
    /// false.
    fn waits(&self) -> bool {
        false
    }

    /// Returns the algorithm of the store, if it is one of these.
    /// [`StoreFailure::Local`] continues with it if the store fails. Default:
    /// `None`, for the algorithm of the options.
    fn algorithm(&self) -> Option<Algorithm> {
        None
    }

    /// Charges one request to `key` and returns the decision.
    ///
    /// `now` is the time since the limiter was built, from a monotonic clock.
    /// It is comparable within one process only, so an external store needs its
    /// own clock. A store for several limiters can distinguish them by the name
    /// of the policy. [`MemoryRateStore`] does not, so limiters with the same
    /// store share its counts.
    ///
    /// [`MemoryRateStore`]: super::MemoryRateStore
    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a>;

    /// Charges `n` requests to `key` at once, for example for the calls of a
    /// batch: as many as pass, one by one until the first rejection. By default
    /// it calls [`charge`](Self::charge) for each; an external store should
    /// need one round trip.
    ///
    /// # Errors
    /// Fails if the store fails. Some requests may have been charged.
    fn charge_n<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        n: u32,
        now: Duration,
    ) -> BoxFuture<'a, Result<BatchDecision, StoreError>> {
        Box::pin(async move {
            let limit = policy.limit().get();
            let mut batch = BatchDecision::new(0, Decision::pass(limit, limit, Duration::ZERO));
            while batch.granted < n {
                batch.last = match self.charge(key, policy, now) {
                    ChargeOutcome::Ready(decision) => decision,
                    ChargeOutcome::Pending(decision) => decision.await?,
                };
                if !batch.last.allowed {
                    break;
                }
                batch.granted += 1;
            }
            Ok(batch)
        })
    }

    /// Charges a request that counts as `cost` requests to `key`, for a
    /// [`Charge`](super::Charge) with a cost. The request passes if all of them
    /// pass. Otherwise none of them should count.
    ///
    /// By default it calls [`charge_n`](Self::charge_n), so the part that still
    /// fits counts even if the request is rejected.
    fn charge_cost<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        cost: NonZeroU32,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        if cost == NonZeroU32::MIN {
            return self.charge(key, policy, now);
        }
        let batch = self.charge_n(key, policy, cost.get(), now);
        ChargeOutcome::Pending(Box::pin(async move { Ok(batch.await?.last) }))
    }
}

/// The decision about several requests that were charged together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BatchDecision {
    /// The number of requests that pass.
    pub granted: u32,
    /// The decision about the last charged request: the first rejection, if not
    /// all of them pass.
    pub last: Decision,
}

impl BatchDecision {
    /// Creates the decision, for a custom [`RateStore`].
    #[must_use]
    pub const fn new(granted: u32, last: Decision) -> Self {
        Self { granted, last }
    }
}

/// The result of a [`RateStore`].
#[must_use]
pub enum ChargeOutcome<'a> {
    /// The immediate decision.
    Ready(Decision),
    /// The future decision. An error means that the store failed;
    /// [`StoreFailure`] then decides about the request.
    Pending(BoxFuture<'a, Result<Decision, StoreError>>),
}

/// The treatment of a request if an asynchronous store fails or is too slow.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreFailure {
    /// The request is rejected with the error of the store, or with 503 and
    /// `Retry-After` if the store was too slow. No request passes uncounted.
    #[default]
    Refuse,
    /// The request passes uncounted, so a client that can overload the store is
    /// no longer limited. The failure is logged at error level, at most once a
    /// second.
    Pass,
    /// This process counts locally, and lets its share of the limit pass: the
    /// limit divided by the number of processes, rounded up. The failure is
    /// logged at error level, at most once a second.
    ///
    /// Each request is also charged to the share while the store works, so that
    /// a failure does not begin a new window. In the window of a failure, at
    /// most `nodes - 1` requests above the limit pass if they are spread evenly
    /// over the processes. With any other distribution, fewer than `2 * limit +
    /// nodes` requests pass in total.
    ///
    /// In a file it is `{ "local": { "nodes": 3 } }`.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use stockade::middleware::RateLimit;
    /// use stockade::middleware::rate_limit::{
    ///     ChargeOutcome, MINUTE, RateLimitPolicy, RateKey, RateStore, StoreFailure,
    /// };
    /// use stockade::StoreError;
    ///
    /// /// A store that cannot be reached.
    /// struct Away;
    ///
    /// impl RateStore for Away {
    ///     fn waits(&self) -> bool {
    ///         true
    ///     }
    ///
    ///     fn charge<'a>(&'a self, _: &'a RateKey, _: &'a RateLimitPolicy, _: std::time::Duration) -> ChargeOutcome<'a> {
    ///         ChargeOutcome::Pending(Box::pin(async { Err(StoreError::unavailable("the store is away")) }))
    ///     }
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), stockade::BoxError> {
    /// let limit = RateLimit::from(100 / MINUTE).store(Arc::new(Away));
    /// let limiter = limit.on_store_failure(StoreFailure::Local { nodes: 3 }).build()?;
    /// let key = RateKey::shared();
    /// let ChargeOutcome::Pending(decision) = limiter.charge(&key, std::time::Instant::now()) else {
    ///     unreachable!("the store waits");
    /// };
    /// let decision = decision.await?;
    /// assert_eq!((decision.limit, decision.remaining), (34, 33));
    /// # Ok(())
    /// # }
    /// ```
    Local {
        /// The number of processes that share the store. 0 is a configuration
        /// error when the limiter is built. If it is too small, more requests
        /// pass during a failure; if it is too large, fewer.
        nodes: u32,
    },
}

impl fmt::Debug for ChargeOutcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(decision) => f.debug_tuple("Ready").field(decision).finish(),
            Self::Pending(_) => f.debug_tuple("Pending").finish_non_exhaustive(),
        }
    }
}
