//! [`Meter`]: the limits that have counted a request, for its parts.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stockade_core::__internal::ChildExt as _;
use stockade_core::{Clock, Request};
use stockade_errors::ApiError;

use super::decision::too_many;
use super::{Charge, Decision, RateKey, RateLimiter};
use crate::observation::{Observation, Observers};

/// The rate limits that have counted a request, by which the parts of it are
/// counted too: else a batch of fifty calls would be one request. It also knows the
/// log and the metrics, in which each part stands.
///
/// Requests that may have parts share it with them. The router puts its limit there,
/// and each `with_rate_limit` in front of the handler its own.
#[derive(Default)]
pub struct Meter {
    counting: Mutex<Vec<Counting>>,
    /// The log and the metrics of the router.
    observers: Option<Arc<Observers>>,
}

/// A limit, with the client that it counts.
struct Counting {
    limiter: Arc<RateLimiter>,
    key: RateKey,
    clock: Clock,
    /// The last decision that let a part pass.
    passed: Decision,
}

impl Meter {
    /// Puts a meter on the request, and returns it.
    pub fn of(req: &mut Request, observers: Option<Arc<Observers>>) -> Arc<Self> {
        let meter = Arc::new(Self { observers, ..Self::default() });
        req.share(Arc::clone(&meter));
        meter
    }

    /// Begins the observation of a part, whose route is known; `None` if nobody
    /// wants to know of it.
    #[must_use]
    pub fn enter_part(&self, part: &Request) -> Option<Observation> {
        self.observers.as_ref()?.enter_part(part)
    }

    /// Adds a limit that has let the request pass.
    pub fn add(&self, limiter: Arc<RateLimiter>, key: RateKey, clock: Clock, passed: Decision) {
        self.lock().push(Counting { limiter, key, clock, passed });
    }

    /// Charges one more part to each limit.
    ///
    /// # Errors
    /// 429 of the first limit that refuses it, and the error of a store.
    pub async fn charge(&self) -> Result<(), ApiError> {
        let mut index = 0;
        while let Some((limiter, key, clock)) = self.limit(index) {
            let decision = match limiter.charge(&key, clock.now()) {
                Charge::Now(decision) => decision,
                Charge::Later(decision) => decision.await?,
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

    /// Returns the last decision of a limit that let a part pass, for the headers
    /// of the response.
    #[must_use]
    pub fn passed(&self, limiter: &Arc<RateLimiter>) -> Option<Decision> {
        let counting = self.lock();
        counting.iter().find(|it| Arc::ptr_eq(&it.limiter, limiter)).map(|it| it.passed)
    }

    fn limit(&self, index: usize) -> Option<(Arc<RateLimiter>, RateKey, Clock)> {
        let counting = self.lock();
        let it = counting.get(index)?;
        Some((Arc::clone(&it.limiter), it.key.clone(), it.clock.clone()))
    }

    /// Locks the list, whose entries are whole at any time.
    fn lock(&self) -> MutexGuard<'_, Vec<Counting>> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meter({})", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::options::RateLimitExt as _;
    use super::super::{MINUTE, RateLimit};
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
            let Charge::Now(decision) = limiter.charge(&key, start) else { unreachable!() };
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

    #[tokio::test]
    async fn without_a_limit_every_part_passes() {
        assert!(Meter::default().charge().await.is_ok());
    }
}
