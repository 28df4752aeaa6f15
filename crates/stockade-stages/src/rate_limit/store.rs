//! [`RateStore`]: the store of the counts.

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

    /// Returns the algorithm by which the store counts, if it is one of these. By it
    /// [`StoreFailure::Local`] goes on counting when the store fails. Default: `None`,
    /// for that of the options.
    fn algorithm(&self) -> Option<Algorithm> {
        None
    }

    /// Charges one request to `key` and decides about it.
    ///
    /// `now` is the time since the limiter was built, from a clock that never
    /// goes back. It is comparable within one process only, so an outside store
    /// needs its own clock. A store that serves several limiters can tell them
    /// apart by the name of the policy. [`MemoryRateStore`] does not, so limiters
    /// that share one share its counts.
    ///
    /// [`MemoryRateStore`]: super::MemoryRateStore
    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a>;

    /// Charges `n` requests to `key` at once, as for the calls of a batch: as many as
    /// pass, one after the other until the first refusal. By default it calls
    /// [`charge`](Self::charge) for each; a store outside should need one round trip.
    ///
    /// # Errors
    /// The store failed. Some requests may have been charged.
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
    /// [`Charge`](super::Charge) with a cost. The request passes if all of them pass. Otherwise
    /// none of them should count.
    ///
    /// By default it calls [`charge_n`](Self::charge_n), so the part that still fits counts
    /// although the request is refused.
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

/// The decision about several requests that were charged at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BatchDecision {
    /// The number of requests that pass.
    pub granted: u32,
    /// The decision about the last one that was charged: the first refusal, if not all
    /// of them pass.
    pub last: Decision,
}

impl BatchDecision {
    /// Makes the decision, for a [`RateStore`] of one's own.
    #[must_use]
    pub const fn new(granted: u32, last: Decision) -> Self {
        Self { granted, last }
    }
}

/// The answer of a [`RateStore`].
#[must_use]
pub enum ChargeOutcome<'a> {
    /// The decision, at once.
    Ready(Decision),
    /// The decision later. An error means that the store failed;
    /// [`StoreFailure`] decides about the request then.
    Pending(BoxFuture<'a, Result<Decision, StoreError>>),
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
    /// This process counts alone, and lets its share of the limit pass: the limit
    /// divided by the number of processes, rounded up. The failure is logged at error
    /// level, at most once a second.
    ///
    /// Each request is charged to the share too while the store answers, so that a
    /// failure does not begin a new window. In the window of a failure at most
    /// `nodes - 1` requests above the limit pass if they are spread evenly over the
    /// processes, and fewer than twice the limit and `nodes` however they are spread.
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
        /// The number of processes that share the store. 0 is a mistake, which is found
        /// when a limiter is built. One that is too small lets more pass during a
        /// failure, one that is too large less.
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
