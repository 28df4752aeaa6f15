//! A rate limit store in Redis.

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

/// A rate limit store, shared by all processes with the same Redis server and
/// prefix.
///
/// It is exact: no matter how many requests arrive at how many processes, no
/// more pass than the policy allows. Each request runs one script, so it takes
/// one round trip, limited by [`deadline`](Self::deadline). The server's clock
/// measures all windows.
///
/// Each process remembers a rejection until it expires, because the result
/// cannot change before then. A client that keeps sending costs no further
/// commands. A process remembers at most 100,000 rejections.
///
/// The Redis key contains the algorithm, the limit and the window, so counts
/// restart after a deployment with another quota. If the limit chooses the
/// quota of each request ([`RateLimit::by`]), the key contains neither limit
/// nor window, so the count survives a new quota. A key expires when its counts
/// are no longer relevant. If a key has lost its expiry, the next request sets
/// it again.
///
/// When Redis is down, [`RateLimit::on_store_failure`] decides. Only
/// [`StoreFailure::Local`] serves the clients and still enforces a limit.
///
/// [`RateLimit::by`]: stockade_stages::RateLimit::by
/// [`RateLimit::on_store_failure`]:
/// stockade_stages::RateLimit::on_store_failure
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
    /// The secret for hashing keys, if Redis must not see them in plain text.
    secret: Option<hmac::Key>,
    /// The hashers for the two halves of in-process key names.
    names: [RandomState; 2],
    refusals: Refusals,
    leases: Option<Leases>,
}

impl Redis {
    /// Returns a rate limit store, which uses fixed windows by default.
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
    /// Sets the algorithm. The algorithm of [`RateLimit`] applies only to the
    /// in-memory store. Default: [`Algorithm::FixedWindow`]. GCRA counts at
    /// most a million requests per second.
    ///
    /// [`RateLimit`]: stockade_stages::RateLimit
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.counting = Counting::new(algorithm);
        self
    }

    /// Sets the time limit for a response from Redis. Default: 100 ms.
    /// [`RateLimit::store_timeout`], which is longer by default, also applies.
    ///
    /// [`RateLimit::store_timeout`]: stockade_stages::RateLimit::store_timeout
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Leases several requests of a busy key at once from Redis and spends them
    /// in this process. Default: off. Only fixed windows support this; the
    /// other algorithms charge each request separately.
    ///
    /// A key that is used again within 100 ms leases 2, 4 and so on, up to
    /// 1/`share` of its limit. It leases one request at a time when less than
    /// twice this maximum is left. Unspent requests expire with the window. The
    /// limit is never exceeded, but each process may hold unspent requests, up
    /// to this maximum, while another process rejects requests. A `share` of 16
    /// is a good choice; 0 counts as 1.
    #[must_use]
    pub fn leased(mut self, share: u32) -> Self {
        self.leases = Some(Leases::new(share.max(1)));
        self
    }

    /// Hides keys from Redis with a keyed hash (HMAC-SHA-256), because client
    /// addresses are personal data. Default: keys are stored in plain text. All
    /// processes must use the same secret. A different secret resets all
    /// counts.
    #[must_use]
    pub fn hash_keys(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.secret = Some(hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()));
        self
    }

    /// Returns the in-process name of a key. It consists of two keyed hashes,
    /// so its memory does not depend on the key's length.
    fn name(&self, key: &RateKey, policy: &RateLimitPolicy) -> u128 {
        let whole = (policy.name(), policy.limit(), policy.window(), key);
        let [high, low] = [0, 1].map(|half: usize| u128::from(self.names[half].hash_one(whole)));
        high << 64 | low
    }

    /// Returns the name of a key in Redis.
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
        // A policy name may contain colons, and clients often choose the key's
        // text. Without this escape, a key of one limit could collide with a
        // key of another limit.
        let name = policy.name().replace(':', "::");
        format!("{prefix}:rate:{algorithm}:{quota}:{name}:{text}")
    }

    /// Charges `want` requests in Redis. One of them is for the current
    /// request.
    async fn ask(
        &self,
        name: u128,
        key: &RateKey,
        policy: &RateLimitPolicy,
        want: u32,
    ) -> Result<Decision, StoreError> {
        let asking = self.asking(name, want);
        let key = self.key(key, policy);
        // The durations in the response count from a time before the request,
        // so no result is stored for too long.
        let sent = Instant::now();
        let requested = RequestedCount::up_to(want);
        let answer = self.send(&key, policy, requested).await?;
        self.answered(name, policy, requested, asking, &answer, sent)
    }

    /// Charges a request that counts as `cost` requests. It does not use
    /// leases. Rejections are not stored, because a cheaper request may still
    /// pass.
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

/// The parts of a charge that need neither Redis nor a clock.
impl RedisRateLimits {
    /// Decides locally, or returns the number of requests to charge in Redis.
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

    /// Processes the response to a charge that was sent at `sent`.
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
    /// Charges all requests of a batch in Redis.
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
        // The result for the first rejected request: the same state with
        // nothing granted.
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
        // The rate limiter's time is not comparable between processes.
        let (name, now) = (self.name(key, policy), Instant::now());
        match self.known(name, policy.limit().get(), now) {
            ControlFlow::Break(decision) => ChargeOutcome::Ready(decision),
            ControlFlow::Continue(want) => {
                ChargeOutcome::Pending(Box::pin(self.ask(name, key, policy, want)))
            }
        }
    }

    /// Takes one round trip and does not use leases.
    fn charge_n<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        n: u32,
        _: Duration,
    ) -> BoxFuture<'a, Result<BatchDecision, StoreError>> {
        Box::pin(self.ask_n(key, policy, n))
    }

    /// Takes one round trip and does not use leases.
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
        // If one request does not pass, several do not pass either.
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

/// Longer keys are replaced by their SHA-256.
const MAX_KEY_BYTES: usize = 100;

/// The maximum number of keys that a process remembers.
const MAX_REMEMBERED: usize = 100_000;
