//! [`RateLimiter`]: a rate limit that has been built.
//!
//! Hot: [`RateLimiter::charge`] with the in-memory store does not allocate.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue};
use stockade_core::description::{HeaderDoc, ResponseDoc, StatusDoc};
use stockade_core::{BoxFuture, Request, Response, RouteDescription};
use stockade_errors::panic::catch_panic;
use stockade_errors::{ApiError, StoreError};
use stockade_map::QuotaInfo;

use super::by_request::{ByRequest, SeenPolicies};
use super::decision::Decision;
use super::headers::{documented, left, write_headers, write_left};
use super::key::RateKey;
use super::memory::MemoryRateStore;
use super::options::{KeyGenerator, RateLimit};
use super::quota::RateLimitPolicy;
use super::store::{BatchDecision, ChargeOutcome, RateStore, StoreFailure};

/// A rate limit that counts. Clones share the counts.
#[derive(Clone)]
pub struct RateLimiter {
    policy: RateLimitPolicy,
    store: Arc<dyn RateStore>,
    key_generator: Option<Arc<KeyGenerator>>,
    legacy_headers: bool,
    store_timeout: Option<Duration>,
    on_store_failure: StoreFailure,
    local: Option<Arc<Local>>,
    /// The function that chooses key and quota, if the limit has one.
    by_request: Option<ByRequest>,
    shared: Arc<Shared>,
}

/// The local counts of this process, for a store failure.
struct Local {
    store: MemoryRateStore,
    /// The share of this process, unless each request has a separate quota.
    policy: RateLimitPolicy,
    nodes: NonZeroU32,
}

/// The state that clones share, except the store.
#[derive(Default)]
struct Shared {
    /// The beginning of the limiter's time.
    start: OnceLock<Instant>,
    /// True if this warning has been logged.
    no_client: AtomicBool,
    no_key: AtomicBool,
    /// The last second after `start` with a logged store failure.
    logged: AtomicU64,
    /// The quotas of the requests, if each request has a separate one.
    policies: SeenPolicies,
}

impl RateLimiter {
    pub(super) fn new(
        options: &RateLimit,
        policy: RateLimitPolicy,
        start: Option<Instant>,
    ) -> Self {
        let shared = Shared::default();
        if let Some(start) = start {
            shared.start.get_or_init(|| start);
        }
        let store = options.place();
        let local = Local::new(options, &policy, &*store).map(Arc::new);
        if store.waits() && !options.has_chosen_failure() {
            let name = policy.name();
            log::warn!(
                target: "stockade",
                "the rate limit {name:?} rejects every request while its store is unavailable; to \
                 choose, set on_store_failure: StoreFailure::Local counts in this process, Refuse \
                 rejects, Pass allows",
            );
        }
        Self {
            policy,
            store,
            local,
            key_generator: options.key_generator.clone(),
            legacy_headers: options.legacy_headers,
            store_timeout: options.store_timeout,
            on_store_failure: options.on_store_failure,
            by_request: options.by_request.clone(),
            shared: Arc::new(shared),
        }
    }

    /// Returns true if the store may have to wait.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.store.waits()
    }

    /// Returns the key of a request: from the key generator if set, else the
    /// client's address, else the shared key.
    ///
    /// The first failure of the generator and the first missing client are
    /// logged, once for each limiter.
    #[must_use]
    pub fn key(&self, req: &Request, client: Option<IpAddr>) -> RateKey {
        if let Some(text) = self.key_generator.as_deref().and_then(|own| self.generate(own, req)) {
            return RateKey::text(text);
        }
        if client.is_none() {
            warn_once(&self.shared.no_client, || {
                let name = self.policy.name();
                format!("requests without a peer address share the rate limit `{name}`")
            });
        }
        client.into()
    }

    fn generate(&self, generator: &KeyGenerator, req: &Request) -> Option<String> {
        let reason = match catch_panic(|| generator(req)) {
            Ok(Ok(key)) => return Some(key),
            Ok(Err(error)) => error.message().to_owned(),
            Err(_) => "it panicked".to_owned(),
        };
        warn_once(&self.shared.no_key, || {
            let name = self.policy.name();
            format!(
                "the key generator of the rate limit `{name}` failed, so the client address is \
                 used: {reason}"
            )
        });
        None
    }

    /// Charges one request to `key`. `now` must always come from the same
    /// clock. The first `now` is the beginning of time, unless a router has set
    /// one.
    ///
    /// A store that waits has a timeout of [`RateLimit::store_timeout`].
    pub fn charge<'a>(&'a self, key: &'a RateKey, now: Instant) -> ChargeOutcome<'a> {
        self.charge_as(&self.policy, key, NonZeroU32::MIN, now)
    }

    /// Charges one request that counts as `cost` requests, with the policy that
    /// applies to it.
    #[inline]
    pub(super) fn charge_as<'a>(
        &'a self,
        policy: &'a RateLimitPolicy,
        key: &'a RateKey,
        cost: NonZeroU32,
        now: Instant,
    ) -> ChargeOutcome<'a> {
        let passed = now.saturating_duration_since(*self.shared.start.get_or_init(|| now));
        // Always charged, so that the share is up to date if the store fails.
        let local = self.local.as_ref().map(|it| it.decide(policy, key, cost, passed));
        let outcome = match cost {
            NonZeroU32::MIN => self.store.charge(key, policy, passed),
            _ => self.store.charge_cost(key, policy, cost, passed),
        };
        match outcome {
            ChargeOutcome::Pending(decision) => {
                let uncounted = move || uncounted(policy, cost);
                ChargeOutcome::Pending(Box::pin(self.waited(decision, passed, local, uncounted)))
            }
            decided @ ChargeOutcome::Ready(_) => decided,
        }
    }

    /// Returns the charge of a request: from its function if the limit has one,
    /// else one request of the client. `Break` is the response of the function.
    ///
    /// # Errors
    /// Returns the error of the function, and a 500 for a quota of 0.
    pub(super) fn charge_of(
        &self,
        req: &Request,
    ) -> Result<ControlFlow<Response, Option<RequestCharge>>, ApiError> {
        let Some(by) = &self.by_request else {
            let key = self.key(req, req.client_ip());
            return Ok(ControlFlow::Continue(Some(RequestCharge::one(key))));
        };
        Ok(match (by.charge)(req)? {
            ControlFlow::Break(response) => ControlFlow::Break(response),
            ControlFlow::Continue(charge) => {
                let counted = charge.and_then(|it| Some((it.requests()?, it)));
                let prepared = counted.map(|(cost, charge)| {
                    let policy = self.shared.policies.of(self.policy.name(), charge.quota);
                    let policy = Some(policy.map_err(ApiError::internal)?);
                    Ok::<_, ApiError>(RequestCharge { key: charge.key, policy, cost })
                });
                ControlFlow::Continue(prepared.transpose()?)
            }
        })
    }

    /// Charges `n` requests to `key` with the policy that applies to them, in
    /// one call of the store. Charges all of them, or the requests before the
    /// first rejection.
    ///
    /// # Errors
    /// Returns the error of the store if [`RateLimit::on_store_failure`]
    /// rejects.
    pub(super) async fn charge_n(
        &self,
        policy: &RateLimitPolicy,
        key: &RateKey,
        n: u32,
        now: Instant,
    ) -> Result<BatchDecision, StoreError> {
        let passed = now.saturating_duration_since(*self.shared.start.get_or_init(|| now));
        let local = self.local.as_ref().map(|it| it.decide_n(policy, key, n, passed));
        let decision = self.store.charge_n(key, policy, n, passed);
        let uncounted = || BatchDecision::new(n, uncounted(policy, NonZeroU32::MIN));
        self.waited(decision, passed, local, uncounted).await
    }

    /// Waits for the store. A failure becomes an error or a decision, as the
    /// option requires.
    async fn waited<T>(
        &self,
        decision: BoxFuture<'_, Result<T, StoreError>>,
        now: Duration,
        local: Option<T>,
        uncounted: impl FnOnce() -> T,
    ) -> Result<T, StoreError> {
        let outcome = match self.store_timeout {
            Some(limit) => match tokio::time::timeout(limit, decision).await {
                Ok(outcome) => outcome,
                Err(_) => Err(too_slow(limit)),
            },
            None => decision.await,
        };
        match (outcome, local) {
            (Err(error), Some(decision)) => {
                self.log_failure("counts only in this process", &error, now);
                Ok(decision)
            }
            (Err(error), None) if self.on_store_failure == StoreFailure::Pass => {
                self.log_failure("allows requests", &error, now);
                Ok(uncounted())
            }
            (outcome, _) => outcome,
        }
    }

    /// Logs a failure of the store, at most once a second.
    #[cold]
    fn log_failure(&self, consequence: &str, error: &StoreError, now: Duration) {
        let second = now.as_secs().saturating_add(1);
        if self.shared.logged.swap(second, Ordering::Relaxed) != second {
            let name = self.policy.name();
            log::error!(target: "stockade", "rate limit {name:?} {consequence}: {error}");
        }
    }

    /// Returns the quota and its name.
    #[must_use]
    pub fn policy(&self) -> &RateLimitPolicy {
        &self.policy
    }

    /// Adds `RateLimit-Policy`, `RateLimit`, and `Retry-After` if the request
    /// was rejected.
    ///
    /// The limiter is listed before the limiters that the response already
    /// lists. With [`RateLimit::legacy_headers`], or if the response already
    /// has them, the older `X-RateLimit-Limit`, `X-RateLimit-Remaining` and
    /// `X-RateLimit-Reset` (in seconds) are added too. They have room for one
    /// limiter: the one with a rejection, else the one with the fewest
    /// remaining requests, and in a tie the one with the longest reset time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use stockade::http::HeaderMap;
    /// use stockade::middleware::rate_limit::{Decision, MINUTE, RateLimit};
    ///
    /// let limiter = RateLimit::from(100 / MINUTE).build()?;
    /// let mut headers = HeaderMap::new();
    /// limiter.write_headers(Decision::pass(100, 99, Duration::from_secs(60)), &mut headers);
    /// assert_eq!(headers["ratelimit-policy"], "\"default\";q=100;w=60");
    /// assert_eq!(headers["ratelimit"], "\"default\";r=99;t=60");
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    pub fn write_headers(&self, decision: Decision, headers: &mut HeaderMap) {
        self.write_headers_of(&self.policy, decision, headers);
    }

    /// Adds the same headers for a request with this policy.
    pub(super) fn write_headers_of(
        &self,
        policy: &RateLimitPolicy,
        decision: Decision,
        headers: &mut HeaderMap,
    ) {
        write_headers(&[(policy, decision)], self.legacy_headers, headers);
    }
}

/// The charge of a request, ready for the store.
#[derive(Clone)]
pub(super) struct RequestCharge {
    pub(super) key: RateKey,
    /// The policy of the request, or `None` for the policy of the limiter.
    policy: Option<Arc<RateLimitPolicy>>,
    pub(super) cost: NonZeroU32,
}

impl RequestCharge {
    /// Creates the charge of one request with the policy of the limiter.
    pub(super) fn one(key: RateKey) -> Self {
        Self { key, policy: None, cost: NonZeroU32::MIN }
    }

    /// Returns the policy that applies.
    pub(super) fn policy<'a>(&'a self, limiter: &'a RateLimiter) -> &'a RateLimitPolicy {
        self.policy.as_deref().unwrap_or(&limiter.policy)
    }

    /// Charges the request.
    pub(super) fn charge<'a>(
        &'a self,
        limiter: &'a RateLimiter,
        now: Instant,
    ) -> ChargeOutcome<'a> {
        limiter.charge_as(self.policy(limiter), &self.key, self.cost, now)
    }
}

impl Local {
    /// Returns the counts for [`StoreFailure::Local`], if the store can fail.
    fn new(options: &RateLimit, policy: &RateLimitPolicy, store: &dyn RateStore) -> Option<Self> {
        let StoreFailure::Local { nodes } = options.on_store_failure else { return None };
        let nodes = NonZeroU32::new(nodes).filter(|_| store.waits())?;
        let algorithm = store.algorithm().unwrap_or(options.algorithm);
        let store = MemoryRateStore::new(algorithm, options.max_keys);
        Some(Self { store, policy: policy.share(nodes), nodes })
    }

    /// Returns the share of this process.
    fn share(&self, policy: &RateLimitPolicy) -> Cow<'_, RateLimitPolicy> {
        match policy.depends_on_request() {
            true => Cow::Owned(policy.share(self.nodes)),
            false => Cow::Borrowed(&self.policy),
        }
    }

    fn decide(
        &self,
        policy: &RateLimitPolicy,
        key: &RateKey,
        cost: NonZeroU32,
        now: Duration,
    ) -> Decision {
        self.store.decide_cost(key, &self.share(policy), cost, now)
    }

    /// Charges several requests, one by one until the first rejection.
    fn decide_n(
        &self,
        policy: &RateLimitPolicy,
        key: &RateKey,
        n: u32,
        now: Duration,
    ) -> BatchDecision {
        let share = self.share(policy);
        let mut batch = BatchDecision::new(0, self.store.decide(key, &share, now));
        while batch.last.allowed {
            batch.granted += 1;
            if batch.granted >= n {
                break;
            }
            batch.last = self.store.decide(key, &share, now);
        }
        batch
    }
}

impl RateLimiter {
    /// Returns true if the older `X-RateLimit-*` headers are enabled.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn has_legacy_headers(&self) -> bool {
        self.legacy_headers
    }

    /// Returns the value of `RateLimit` for a request that only this limit has
    /// charged, for a response with other prepared headers.
    #[must_use]
    #[doc(hidden)]
    pub fn left(&self, decision: Decision) -> Option<HeaderValue> {
        left(&self.policy, &decision)
    }

    /// Appends the same value to a text.
    #[doc(hidden)]
    pub fn write_left(&self, decision: Decision, text: &mut Vec<u8>) {
        write_left(&self.policy, &decision, text);
    }

    /// Describes the limit as a part of a route: its quota, its rejection, and
    /// the headers that it adds.
    #[doc(hidden)]
    pub fn describe(&self, doc: &mut RouteDescription) {
        let quota = (self.policy.limit().get().into(), self.policy.window());
        let quota = Some(quota).filter(|_| self.by_request.is_none());
        doc.counted(QuotaInfo::new(self.policy.name(), quota));
        if let Some(by) = &self.by_request {
            (by.describe)(doc);
        }
        let headers = || documented(self.legacy_headers);
        let retry_after = HeaderDoc::new(
            "Retry-After",
            "The number of seconds until the next request is allowed",
        );
        let refusal = ResponseDoc::error(429).meaning("Too many requests from this client");
        doc.responds(headers().fold(refusal.header(retry_after), ResponseDoc::header));
        if self.waits() && self.on_store_failure == StoreFailure::Refuse {
            let meaning = "An error of the rate limit store";
            let retry = HeaderDoc::new(
                "Retry-After",
                "The number of seconds until the request can be repeated",
            );
            let answer = ResponseDoc::error(StatusDoc::Default).meaning(meaning);
            doc.responds(answer.header(retry.sometimes()));
        }
        headers().for_each(|header| doc.adds_header(header, None));
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Creates the decision for a request that passes because the store has failed,
/// as if it were the first.
#[cold]
fn uncounted(policy: &RateLimitPolicy, cost: NonZeroU32) -> Decision {
    let limit = policy.limit().get();
    Decision::pass(limit, limit.saturating_sub(cost.get()), policy.window())
}

/// Creates the error of a store that timed out.
#[cold]
fn too_slow(limit: Duration) -> StoreError {
    StoreError::unavailable(format!("the store of a rate limit did not respond within {limit:?}"))
}

fn warn_once(warned: &AtomicBool, message: impl FnOnce() -> String) {
    if !warned.load(Ordering::Relaxed) && !warned.swap(true, Ordering::Relaxed) {
        log::warn!(target: "stockade", "{}", message());
    }
}
