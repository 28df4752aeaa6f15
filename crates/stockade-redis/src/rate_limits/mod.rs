//! [`RedisRateLimits`]: the counts of rate limits in an engine.

mod algorithm;
mod leases;
#[cfg(test)]
pub(crate) mod model;
mod refusals;
#[cfg(test)]
mod simulation;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ring::{digest, hmac};
use stockade_core::BoxFuture;
use stockade_errors::StoreError;
use stockade_stages::rate_limit::{
    Algorithm, BatchDecision, ChargeOutcome, Decision, RateKey, RateLimitPolicy, RateStore,
};

use crate::link::Redis;
use crate::rate_limits::algorithm::{Counting, Granted, RequestedCount};
use crate::rate_limits::leases::{LeaseRequest, Leases, Step};
use crate::rate_limits::refusals::Refusals;

/// A store of rate limits that all processes with the same engine and prefix share.
///
/// It is exact: of any number of simultaneous requests to any number of processes no
/// more pass than the policy allows. A request is one script, and so one round trip,
/// with [`deadline`](Self::deadline) for its answer. Windows are measured by the clock
/// of the engine, whatever those of the processes say.
///
/// A refusal is remembered in the process until it may end, because the answer cannot
/// change before that: a client that goes on costs no command. At most 100,000 are.
///
/// The key in Redis has the algorithm, the limit and the window. So the count starts again
/// after a deployment with another quota. If the limit chooses the quota of each
/// request ([`RateLimit::by`]), the key has neither limit nor window, and the count stays.
/// A key goes when nothing of it counts any more, and one that has lost its expiry gets it
/// back with the next request.
///
/// When the engine is gone, [`RateLimit::on_store_failure`] decides; of its values
/// [`StoreFailure::Local`] keeps both the clients and the limit.
///
/// [`RateLimit::by`]: stockade_stages::RateLimit::by
/// [`RateLimit::on_store_failure`]: stockade_stages::RateLimit::on_store_failure
/// [`StoreFailure::Local`]: stockade_stages::rate_limit::StoreFailure::Local
///
/// ```
/// use stockade::middleware::rate_limit::Algorithm;
/// use stockade::redis::{Redis, RedisOptions};
///
/// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
/// let sliding = redis.rate_limits().algorithm(Algorithm::SlidingWindow);
/// let leased = redis.rate_limits().leased(16);
/// # drop((sliding, leased));
/// # Ok::<(), stockade::ConfigError>(())
/// ```
pub struct RedisRateLimits {
    redis: Redis,
    counting: Counting,
    deadline: Duration,
    /// The secret of keys that the engine must not see as they are.
    secret: Option<hmac::Key>,
    /// Hash the two halves of the names under which keys are known in this process.
    names: [RandomState; 2],
    refusals: Refusals,
    leases: Option<Leases>,
}

impl Redis {
    /// Returns a store for rate limits, which counts by fixed windows.
    #[must_use]
    pub fn rate_limits(&self) -> RedisRateLimits {
        RedisRateLimits {
            redis: self.clone(),
            counting: Counting::new(Algorithm::FixedWindow),
            deadline: Duration::from_millis(100),
            secret: None,
            names: [RandomState::new(), RandomState::new()],
            refusals: Refusals::new(),
            leases: None,
        }
    }
}

impl RedisRateLimits {
    /// Sets the algorithm; the one of [`RateLimit`] is for the store in memory alone.
    /// Default: [`Algorithm::FixedWindow`]. GCRA counts at most a million requests a
    /// second.
    ///
    /// [`RateLimit`]: stockade_stages::RateLimit
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.counting = Counting::new(algorithm);
        self
    }

    /// Sets the time that the engine has for its answer. Default: 100 ms. The longer
    /// [`RateLimit::store_timeout`] stands beside it.
    ///
    /// [`RateLimit::store_timeout`]: stockade_stages::RateLimit::store_timeout
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Takes several requests of a busy key at once from the engine, and spends them in
    /// this process without asking. Default: off. For fixed windows; the other
    /// algorithms take one by one.
    ///
    /// A key that is seen twice within 100 ms takes 2, 4 and so on up to the
    /// `share`-th part of its limit, and one at a time when less than twice that part
    /// is left. Requests that are taken and not spent die with the window. So never
    /// more than the limit pass, but each process may hold that part back while
    /// another one refuses. A `share` of 16 is a good one; 0 counts as 1.
    #[must_use]
    pub fn leased(mut self, share: u32) -> Self {
        self.leases = Some(Leases::new(share.max(1)));
        self
    }

    /// Hides the keys from the engine by a keyed hash (HMAC with SHA-256), because the
    /// addresses of clients are personal data. Default: they are kept as they are. All
    /// processes need the same secret; another one begins all counts anew.
    #[must_use]
    pub fn hash_keys(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.secret = Some(hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()));
        self
    }

    /// Returns the name of a key in this process: two keyed hashes, so that its length
    /// costs no memory.
    fn name(&self, key: &RateKey, policy: &RateLimitPolicy) -> u128 {
        let whole = (policy.name(), policy.limit(), policy.window(), key);
        let [high, low] = [0, 1].map(|half: usize| u128::from(self.names[half].hash_one(whole)));
        high << 64 | low
    }

    /// Returns the name of a key in the engine.
    fn key(&self, key: &RateKey, policy: &RateLimitPolicy) -> String {
        let mut text = key.to_string();
        if let Some(secret) = &self.secret {
            text = format!("mac:{}", hex::encode(hmac::sign(secret, text.as_bytes())));
        } else if text.len() > MAX_KEY_BYTES {
            text = format!("sha:{}", hex::encode(digest::digest(&digest::SHA256, text.as_bytes())));
        }
        let (prefix, algorithm) = (self.redis.prefix(), self.counting.name());
        let quota = match policy.depends_on_request() {
            true => "*".to_owned(),
            false => format!("{}:{}", policy.limit(), policy.window().as_micros()),
        };
        // A name may contain colons, and the text of a key is often the choice of a client:
        // without the escape a key of one limit could be the key of another limit.
        let name = policy.name().replace(':', "::");
        format!("{prefix}:rate:{algorithm}:{quota}:{name}:{text}")
    }

    /// Asks the engine for `want` requests, of which one is for now.
    async fn ask(
        &self,
        name: u128,
        key: &RateKey,
        policy: &RateLimitPolicy,
        want: u32,
    ) -> Result<Decision, StoreError> {
        let asking = self.asking(name, want);
        let key = self.key(key, policy);
        // Times of the engine count from here, so that nothing is kept for too long.
        let sent = Instant::now();
        let requested = RequestedCount::up_to(want);
        let answer = self.send(&key, policy, requested).await?;
        self.answered(name, policy, requested, asking, &answer, sent)
    }

    /// Asks the engine for a request that counts as `cost` requests. It takes nothing of a
    /// lease. A rejection is not stored, because a cheaper request may still pass.
    async fn ask_cost(
        &self,
        key: &RateKey,
        policy: &RateLimitPolicy,
        cost: u32,
    ) -> Result<Decision, StoreError> {
        let requested = RequestedCount::all(cost);
        let answer = self.send(&self.key(key, policy), policy, requested).await?;
        Ok(self.read(policy, requested, &answer)?.decision)
    }
}

/// The part of a charge that needs no engine and no clock.
impl RedisRateLimits {
    /// Decides by what this process knows, or returns the number of requests for which
    /// the engine is to be asked.
    fn known(&self, name: u128, limit: u32, now: Instant) -> ControlFlow<Decision, u32> {
        if let Some(refusal) = self.refusals.find(name, now) {
            return ControlFlow::Break(Decision::refuse(limit, refusal.reset, refusal.retry_after));
        }
        let leases = self.leases.as_ref().filter(|_| self.counting.has_an_end());
        match leases.map(|leases| leases.take(name, limit, now)) {
            Some(Step::Spend { remaining, reset }) => {
                ControlFlow::Break(Decision::pass(limit, remaining, reset))
            }
            Some(Step::Ask(want)) => ControlFlow::Continue(want),
            None => ControlFlow::Continue(1),
        }
    }

    fn asking(&self, name: u128, want: u32) -> Option<LeaseRequest<'_>> {
        self.leases.as_ref().filter(|_| want > 1).map(|leases| leases.asking(name))
    }

    /// Takes the answer to a question that was sent at `sent`.
    fn answered(
        &self,
        name: u128,
        policy: &RateLimitPolicy,
        requested: RequestedCount,
        asking: Option<LeaseRequest<'_>>,
        answer: &[i64],
        sent: Instant,
    ) -> Result<Decision, StoreError> {
        let Granted { granted, decision } = self.read(policy, requested, answer)?;
        if let Some(asking) = asking {
            asking.settle(granted.saturating_sub(1), decision.remaining, sent + decision.reset);
        } else if let Some(leases) = &self.leases {
            leases.note(name, decision.remaining, sent + decision.reset);
        }
        if decision.allowed {
            let kept = granted.saturating_sub(1);
            let remaining = decision.remaining.saturating_add(kept);
            return Ok(Decision::pass(decision.limit, remaining, decision.reset));
        }
        self.refusals.keep(name, sent + decision.retry_after, sent + decision.reset, sent);
        Ok(decision)
    }
}

impl RedisRateLimits {
    /// Asks the engine for all requests of a batch.
    async fn ask_n(
        &self,
        key: &RateKey,
        policy: &RateLimitPolicy,
        want: u32,
    ) -> Result<BatchDecision, StoreError> {
        let (name, now) = (self.name(key, policy), Instant::now());
        let limit = policy.limit().get();
        if let Some(refusal) = self.refusals.find(name, now) {
            let last = Decision::refuse(limit, refusal.reset, refusal.retry_after);
            return Ok(BatchDecision::new(0, last));
        }
        let requested = RequestedCount::up_to(want);
        let mut answer = self.send(&self.key(key, policy), policy, requested).await?;
        let Granted { granted, decision } = self.read(policy, requested, &answer)?;
        if let Some(leases) = &self.leases {
            leases.note(name, decision.remaining, now + decision.reset);
        }
        if granted >= want {
            return Ok(BatchDecision::new(granted, decision));
        }
        // The answer to the first one that did not pass: the same state, nothing granted.
        if let Some(granted) = answer.first_mut() {
            *granted = 0;
        }
        let last = self.read(policy, requested, &answer)?.decision;
        self.refusals.keep(name, now + last.retry_after, now + last.reset, now);
        Ok(BatchDecision::new(granted, last))
    }

    /// Runs the script.
    async fn send(
        &self,
        key: &str,
        policy: &RateLimitPolicy,
        requested: RequestedCount,
    ) -> Result<Vec<i64>, StoreError> {
        let arguments = self.counting.arguments(policy, requested);
        Ok(self.redis.run(self.counting.script(), key, &arguments, self.deadline).await?)
    }

    fn read(
        &self,
        policy: &RateLimitPolicy,
        requested: RequestedCount,
        answer: &[i64],
    ) -> Result<Granted, StoreError> {
        let other = || StoreError::unavailable("unexpected reply from Redis");
        self.counting.read(policy, requested, answer).ok_or_else(other)
    }
}

impl RateStore for RedisRateLimits {
    fn waits(&self) -> bool {
        true
    }

    fn algorithm(&self) -> Option<Algorithm> {
        Some(self.counting.algorithm())
    }

    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        // The time of the limiter is not comparable with that of another one.
        let (name, now) = (self.name(key, policy), Instant::now());
        match self.known(name, policy.limit().get(), now) {
            ControlFlow::Break(decision) => ChargeOutcome::Ready(decision),
            ControlFlow::Continue(want) => {
                ChargeOutcome::Pending(Box::pin(self.ask(name, key, policy, want)))
            }
        }
    }

    /// One round trip, which takes nothing of a lease.
    fn charge_n<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        n: u32,
        _: Duration,
    ) -> BoxFuture<'a, Result<BatchDecision, StoreError>> {
        Box::pin(self.ask_n(key, policy, n))
    }

    /// One round trip, which takes nothing of a lease.
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
        // While one request does not pass, several do not pass either.
        let name = self.name(key, policy);
        if let Some(refusal) = self.refusals.find(name, Instant::now()) {
            let limit = policy.limit().get();
            let refused = Decision::refuse(limit, refusal.reset, refusal.retry_after);
            return ChargeOutcome::Ready(refused);
        }
        ChargeOutcome::Pending(Box::pin(self.ask_cost(key, policy, cost.get())))
    }
}

impl fmt::Debug for RedisRateLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimits")
            .field("redis", &self.redis)
            .field("algorithm", &self.counting.algorithm())
            .field("deadline", &self.deadline)
            .field("is_leased", &self.leases.is_some())
            .finish_non_exhaustive()
    }
}

/// Longer keys stand in the engine as their SHA-256.
const MAX_KEY_BYTES: usize = 100;

/// The largest number of keys that are remembered in a process.
const MAX_REMEMBERED: usize = 100_000;
