//! `Meter`: the limits that have charged a request, for its parts.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use stockade_core::{Clock, Request};
use stockade_errors::ApiError;
use stockade_errors::locks::lock;

use super::decision::too_many;
use super::limiter::RequestCharge;
use super::{ChargeOutcome, Decision, RateKey, RateLimiter};
use crate::observation::{Observation, Observers, ToolLabels};

/// The rate limits that have charged a request and also count its parts.
/// Otherwise, a batch of fifty calls would count as one request. It also
/// contains the log and the metrics of each part.
///
/// Requests with parts share it with them. The router adds its limit, and each
/// outer `with_rate_limit` adds its own.
#[derive(Default)]
pub struct Meter {
    counting: Mutex<Vec<Counting>>,
    /// The log and the metrics of the router.
    observers: Option<Arc<Observers>>,
}

/// A limit and the client that it counts.
struct Counting {
    limiter: Arc<RateLimiter>,
    charge: RequestCharge,
    clock: Clock,
    /// The last decision that let a part pass.
    passed: Decision,
}

impl Meter {
    /// Attaches a meter to the request and returns it.
    pub fn of(req: &mut Request, observers: Option<Arc<Observers>>) -> Arc<Self> {
        let meter = Arc::new(Self { observers, ..Self::default() });
        req.share(Arc::clone(&meter));
        meter
    }

    /// Begins the observation of a part with a known route. Returns `None` if
    /// no observer needs it.
    #[must_use]
    pub fn enter_part(&self, part: &Request) -> Option<Observation> {
        self.observers.as_ref()?.enter_part(part)
    }

    /// Begins the observation of a call of a tool. Returns `None` if no observer
    /// needs it.
    #[must_use]
    pub fn enter_tool(&self, call: &Request, labels: &ToolLabels) -> Option<Observation> {
        self.observers.as_ref()?.enter_tool(call, labels)
    }

    /// Adds a limit that has let the request pass.
    pub fn add(&self, limiter: Arc<RateLimiter>, key: RateKey, clock: Clock, passed: Decision) {
        self.add_charge(limiter, RequestCharge::one(key), clock, passed);
    }

    /// Adds a limit that has let the request pass with this charge.
    pub(super) fn add_charge(
        &self,
        limiter: Arc<RateLimiter>,
        charge: RequestCharge,
        clock: Clock,
        passed: Decision,
    ) {
        self.lock().push(Counting { limiter, charge, clock, passed });
    }

    /// Charges one more part to each limit.
    ///
    /// # Errors
    /// Returns the 429 of the first limit that rejects the part, or the error
    /// of a store.
    pub async fn charge(&self) -> Result<(), ApiError> {
        let mut index = 0;
        while let Some((limiter, charge, clock)) = self.limit(index) {
            let decision = match charge.charge(&limiter, clock.now()) {
                ChargeOutcome::Ready(decision) => decision,
                ChargeOutcome::Pending(decision) => decision.await?,
            };
            if !decision.allowed {
                return Err(too_many(&decision));
            }
            if let Some(counting) = self.lock().get_mut(index) {
                counting.passed = decision;
            }
            index += 1;
        }
        Ok(())
    }

    /// Charges `n` more parts to each limit. Returns how many pass, and the
    /// reason why the next one fails: the 429 of the first limit that rejects
    /// it, or the error of a store. If a store fails, all parts are rejected.
    ///
    /// If a store is external, each limit is called once for all parts, so a
    /// batch costs one round trip. A limit before a limit that rejects has then
    /// counted some parts that do not run.
    pub async fn charge_n(&self, n: u32) -> (u32, Option<ApiError>) {
        let waits = self.lock().iter().any(|counting| counting.limiter.waits());
        if !waits {
            for passed in 0..n {
                if let Err(error) = self.charge().await {
                    return (passed, Some(error));
                }
            }
            return (n, None);
        }
        let (mut granted, mut refusal) = (n, None);
        let mut index = 0;
        while let Some((limiter, charge, clock)) = self.limit(index).filter(|_| granted > 0) {
            let (policy, cost) = (charge.policy(&limiter), charge.cost.get());
            let want = granted.saturating_mul(cost);
            let batch = match limiter.charge_n(policy, &charge.key, want, clock.now()).await {
                Ok(batch) => batch,
                Err(error) => return (0, Some(error.into())),
            };
            if batch.granted < want {
                granted = batch.granted / cost;
                refusal = Some(too_many(&batch.last));
            } else if let Some(counting) = self.lock().get_mut(index) {
                counting.passed = batch.last;
            }
            index += 1;
        }
        (granted, refusal)
    }

    /// Returns the last decision of a limit that let a part pass, for the
    /// response headers.
    #[must_use]
    pub fn passed(&self, limiter: &Arc<RateLimiter>) -> Option<Decision> {
        let counting = self.lock();
        counting.iter().find(|it| Arc::ptr_eq(&it.limiter, limiter)).map(|it| it.passed)
    }

    fn limit(&self, index: usize) -> Option<(Arc<RateLimiter>, RequestCharge, Clock)> {
        let counting = self.lock();
        let it = counting.get(index)?;
        Some((Arc::clone(&it.limiter), it.charge.clone(), it.clock.clone()))
    }

    /// Locks the list. Its entries are always consistent.
    fn lock(&self) -> MutexGuard<'_, Vec<Counting>> {
        lock(&self.counting)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meter({})", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    use stockade_core::BoxFuture;
    use stockade_errors::StoreError;

    use super::super::{
        BatchDecision, MINUTE, RateLimit, RateLimitPolicy, RateStore, StoreFailure,
    };
    use super::*;

    #[tokio::test]
    async fn each_limit_counts_each_part() {
        let start = Instant::now();
        let clock = || Clock::new(move || start);
        let limiter =
            |quota: u32| Arc::new(RateLimit::from(quota / MINUTE).build_at(start).unwrap());
        let (wide, narrow) = (limiter(10), limiter(3));
        let meter = Meter::default();
        for limiter in [&wide, &narrow] {
            let key = RateKey::shared();
            let ChargeOutcome::Ready(decision) = limiter.charge(&key, start) else {
                unreachable!()
            };
            meter.add(Arc::clone(limiter), key, clock(), decision);
        }
        assert!(meter.charge().await.is_ok());
        assert!(meter.charge().await.is_ok());
        let error = meter.charge().await.unwrap_err();
        assert_eq!(error.status(), 429);
        assert_eq!(error.headers().collect::<Vec<_>>(), [("Retry-After", "60")]);
        assert_eq!(meter.passed(&narrow).map(|it| (it.allowed, it.remaining)), Some((true, 0)));
        assert_eq!(meter.passed(&wide).map(|it| it.remaining), Some(6));
    }

    /// An external store that counts its calls, and lets 5 requests pass in
    /// total.
    #[derive(Default)]
    struct Outside {
        questions: AtomicU32,
        used: AtomicU32,
        is_away: AtomicBool,
    }

    impl RateStore for Outside {
        fn waits(&self) -> bool {
            true
        }

        fn charge<'a>(
            &'a self,
            key: &'a RateKey,
            policy: &'a RateLimitPolicy,
            now: Duration,
        ) -> ChargeOutcome<'a> {
            let batch = self.charge_n(key, policy, 1, now);
            ChargeOutcome::Pending(Box::pin(async { Ok(batch.await?.last) }))
        }

        fn charge_n<'a>(
            &'a self,
            _: &'a RateKey,
            _: &'a RateLimitPolicy,
            n: u32,
            _: Duration,
        ) -> BoxFuture<'a, Result<BatchDecision, StoreError>> {
            self.questions.fetch_add(1, Ordering::Relaxed);
            let used = self.used.load(Ordering::Relaxed);
            let granted = n.min(5 - used);
            self.used.store(used + granted, Ordering::Relaxed);
            let (second, left) = (Duration::from_secs(1), 5 - used - granted);
            let last = match granted < n {
                true => Decision::refuse(5, second, second),
                false => Decision::pass(5, left, second),
            };
            let outcome = match self.is_away.load(Ordering::Relaxed) {
                true => Err(StoreError::unavailable("the store is away")),
                false => Ok(BatchDecision::new(granted, last)),
            };
            Box::pin(async { outcome })
        }
    }

    #[tokio::test]
    async fn a_batch_is_one_call_to_an_external_store() {
        let start = Instant::now();
        let store = Arc::new(Outside::default());
        let meter = |failure: StoreFailure| {
            let limit = RateLimit::from(6 / MINUTE).store(Arc::clone(&store) as Arc<dyn RateStore>);
            let limiter = limit.on_store_failure(failure).build_at(start).unwrap();
            let meter = Meter::default();
            let passed = Decision::pass(5, 5, Duration::ZERO);
            let clock = Clock::new(move || start);
            meter.add(Arc::new(limiter), RateKey::shared(), clock, passed);
            meter
        };
        let refusing = meter(StoreFailure::Refuse);
        assert!(matches!(refusing.charge_n(3).await, (3, None)));
        let (granted, refusal) = refusing.charge_n(4).await;
        assert_eq!((granted, refusal.map(|error| error.status())), (2, Some(429)));
        assert_eq!(store.questions.load(Ordering::Relaxed), 2);

        store.is_away.store(true, Ordering::Relaxed);
        let (granted, refusal) = refusing.charge_n(4).await;
        assert_eq!((granted, refusal.map(|error| error.status())), (0, Some(503)));
        assert!(matches!(meter(StoreFailure::Pass).charge_n(4).await, (4, None)));
        // Half of six.
        let (granted, refusal) = meter(StoreFailure::Local { nodes: 2 }).charge_n(4).await;
        assert_eq!((granted, refusal.map(|error| error.status())), (3, Some(429)));
    }

    #[tokio::test]
    async fn a_batch_in_memory_is_charged_part_by_part() {
        let start = Instant::now();
        let meter = Meter::default();
        let limiters = [10, 3]
            .map(|quota: u32| Arc::new(RateLimit::from(quota / MINUTE).build_at(start).unwrap()));
        for limiter in &limiters {
            let passed = Decision::pass(10, 10, Duration::ZERO);
            let clock = Clock::new(move || start);
            meter.add(Arc::clone(limiter), RateKey::shared(), clock, passed);
        }
        let (granted, refusal) = meter.charge_n(8).await;
        assert_eq!((granted, refusal.map(|error| error.status())), (3, Some(429)));
        // The wide limit has not counted parts after the rejection.
        assert_eq!(meter.passed(&limiters[0]).map(|it| it.remaining), Some(6));
    }

    #[tokio::test]
    async fn every_part_passes_if_no_limit_is_set() {
        assert!(Meter::default().charge().await.is_ok());
        assert!(matches!(Meter::default().charge_n(7).await, (7, None)));
    }
}
