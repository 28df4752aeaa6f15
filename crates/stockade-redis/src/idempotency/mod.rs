//! A store for idempotency keys in Redis.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use redis::FromRedisValue;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;
use stockade_middleware::idempotency::{
    IdempotencyStore, Nonce, Reservation, ReserveOutcome, SHORT_RECORD_BYTES, ScopedKey,
};

use crate::link::Redis;
use crate::script::{Script, millis};

/// A store for idempotency keys, shared by all processes with the same Redis
/// server and prefix.
///
/// Each step is one script, so it needs one round trip and has the time limit
/// [`deadline`](Self::deadline). The server's clock measures leases and
/// records. If a process dies, its keys become free when their leases expire.
///
/// A user or client has at most
/// [`max_keys_per_owner`](Self::max_keys_per_owner) keys; one more gets a 503.
/// Unlike the in-memory store, this store never replaces a key. The server's
/// memory limit (`maxmemory`) bounds the total. When memory is full, a new key
/// gets a 503. A finished response is then not stored, so a retry gets a 409.
/// Set `noeviction` on the server: if it evicts a key, the request handler runs
/// again for a retry.
///
/// If the server loses its data, it forgets the keys and their request handlers
/// run again. Use [`IdempotencyKey`] for work that must stay exact even then.
///
/// [`IdempotencyKey`]: stockade_middleware::IdempotencyKey
///
/// ```
/// use stockade::middleware::with_idempotency;
/// use stockade::middleware::idempotency::Idempotency;
/// use stockade::redis::{Redis, RedisOptions};
///
/// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
/// let once = with_idempotency(Idempotency::new(redis.idempotency()));
/// # assert_eq!(once.name(), "with_idempotency");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
pub struct RedisIdempotencyStore {
    redis: Redis,
    deadline: Duration,
    max_keys_per_owner: usize,
    take: Script,
    renew: Script,
    complete: Script,
    free: Script,
}

impl Redis {
    /// Returns a store for idempotency keys.
    #[must_use]
    pub fn idempotency(&self) -> RedisIdempotencyStore {
        RedisIdempotencyStore {
            redis: self.clone(),
            deadline: Duration::from_millis(500),
            max_keys_per_owner: 10_000,
            take: Script::new(include_str!("take.lua")),
            renew: Script::new(include_str!("renew.lua")),
            complete: Script::new(include_str!("complete.lua")),
            free: Script::new(include_str!("free.lua")),
        }
    }
}

impl RedisIdempotencyStore {
    /// Sets the time limit for a response from Redis. Default: 500 ms. The
    /// middleware waits for at most 1 s.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the maximum number of keys per user or client. One more gets a 503.
    /// Default: 10,000.
    #[must_use]
    pub fn max_keys_per_owner(mut self, keys: usize) -> Self {
        self.max_keys_per_owner = keys;
        self
    }

    async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        key: &ScopedKey,
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        let names = Names::of(&self.redis, key);
        let keys = [&*names.place, &*names.owner];
        Ok(self.redis.run_on(script, &keys, arguments, self.deadline).await?)
    }
}

/// The Redis keys for one idempotency key. They share a hash tag, so a cluster
/// stores them on one node.
struct Names {
    place: String,
    owner: String,
}

impl Names {
    fn of(redis: &Redis, key: &ScopedKey) -> Self {
        let owner = format!("{}:idempotency:{{{}}}", redis.prefix(), hex::encode(key.owner()));
        Self { place: format!("{owner}:{key}"), owner }
    }
}

/// Returns the lease of a claim and the time until its entry expires.
fn times(claim: &Reservation) -> [String; 2] {
    let whole = claim.remember_crash.unwrap_or_default().max(claim.lease);
    [millis(claim.lease), millis(whole)]
}

impl IdempotencyStore for RedisIdempotencyStore {
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        Box::pin(async move {
            let [lease, whole] = times(claim);
            let most = self.max_keys_per_owner.to_string();
            let arguments: [&[u8]; 6] = [
                &claim.fingerprint,
                &claim.nonce,
                lease.as_bytes(),
                whole.as_bytes(),
                most.as_bytes(),
                key.as_bytes(),
            ];
            let (state, record): (u8, Option<Vec<u8>>) =
                self.run(&self.take, key, &arguments).await?;
            match (state, record) {
                (0, _) => Ok(ReserveOutcome::New),
                (1, _) => Ok(ReserveOutcome::Running),
                (2, _) => Ok(ReserveOutcome::Crashed),
                (3, Some(record)) => Ok(ReserveOutcome::Done(Bytes::from(record))),
                (4, _) => Ok(ReserveOutcome::OtherFingerprint),
                (5, _) => Err(StoreError::Full),
                _ => Err(StoreError::unavailable("unexpected reply from Redis")),
            }
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let [lease, whole] = times(claim);
            let arguments: [&[u8]; 4] =
                [&claim.nonce, lease.as_bytes(), whole.as_bytes(), key.as_bytes()];
            self.run(&self.renew, key, &arguments).await
        })
    }

    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let (ttl, short) = (millis(ttl), SHORT_RECORD_BYTES.to_string());
            let arguments: [&[u8]; 5] =
                [nonce, &record, ttl.as_bytes(), short.as_bytes(), key.as_bytes()];
            self.run(&self.complete, key, &arguments).await
        })
    }

    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.run(&self.free, key, &[nonce, key.as_bytes()]).await })
    }
}

impl fmt::Debug for RedisIdempotencyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisIdempotencyStore")
            .field("redis", &self.redis)
            .field("deadline", &self.deadline)
            .field("max_keys_per_owner", &self.max_keys_per_owner)
            .finish_non_exhaustive()
    }
}
