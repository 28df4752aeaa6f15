//! [`Redis::revocations`]: what is revoked, in all processes with an engine.
//!
//! - `cursor`: the place in the log up to which a process has read, as data.
//! - `follow`: the task that reads the log and repairs it.
//! - `add.lua`, `read.lua`, `remove.lua`: the log, a sorted set by number.

mod cursor;
mod follow;
#[cfg(test)]
mod simulation;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stockade_auth::{
    PublishFuture, Revocation, RevocationFeed, RevocationLog, Revocations, RevokeError,
};
use tokio::runtime::Handle;

use crate::error::LinkError;
use crate::link::Redis;
use crate::revocations::cursor::{COUNTER, Member};
use crate::script::Script;

impl Redis {
    /// Returns revocations of tokens that all processes with the same engine and prefix
    /// share. Take it once in a program, and clone it.
    ///
    /// Each process has all of them in memory, and reads what is new 20 times a second.
    /// The engine has a log of hashes: it sees no token and no name. Every 5 seconds a
    /// process looks if the engine is still the same. If it is not, or has lost its
    /// data, each process puts back what it knows.
    ///
    /// [`Revocations::revoke`] holds in this process at once, also where it fails because
    /// the engine is gone; the others learn it when the engine is back. Once the last
    /// contact is older than 30 s, and before the first one, nobody can say if a token is
    /// revoked: see [`Revocations::stale`]. An engine that has lost its data while no
    /// process was running has forgotten it; persistence (`appendonly yes`) is for that.
    ///
    /// ```
    /// use stockade::auth::Secret;
    /// use stockade::middleware::{Auth, with_auth};
    /// use stockade::redis::{Redis, RedisOptions};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), stockade::ConfigError> {
    /// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
    /// let revocations = redis.revocations();
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let signed_in = with_auth(Auth::secret(secret).revocations(revocations.clone()));
    /// # drop(signed_in);
    /// # Ok(())
    /// # }
    /// ```
    pub fn revocations(&self) -> Revocations {
        let shared = Shared {
            key: format!("{}:revoked", self.prefix()),
            redis: self.clone(),
            feed: OnceLock::new(),
            add: Script::new(include_str!("add.lua")),
            read: Script::new(include_str!("read.lua")),
            remove: Script::new(include_str!("remove.lua")),
            is_followed: AtomicBool::new(false),
            has_unsent: AtomicBool::new(false),
        };
        Revocations::shared(Arc::new(RedisLog(Arc::new(shared))))
    }
}

/// The log of revocations in an engine.
struct RedisLog(Arc<Shared>);

/// The part of a log that its handle and its task share.
struct Shared {
    redis: Redis,
    key: String,
    feed: OnceLock<RevocationFeed>,
    add: Script,
    read: Script,
    remove: Script,
    /// True while the task runs.
    is_followed: AtomicBool,
    /// True if the engine may lack something that is revoked here.
    has_unsent: AtomicBool,
}

impl RevocationLog for RedisLog {
    fn attach(&self, feed: RevocationFeed) {
        let _ = self.0.feed.set(feed);
        self.wake();
    }

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        self.wake();
        Box::pin(async move {
            let outcome = self.0.add(&[entry]).await;
            let error = match outcome {
                Ok(0) => return Ok(()),
                Ok(_) => "the log is full".into(),
                Err(error) => error.into(),
            };
            self.0.has_unsent.store(true, Ordering::Release);
            Err(RevokeError::Log(error))
        })
    }

    /// Starts the task if it does not run: the log was made outside a runtime, or its
    /// runtime has ended.
    fn wake(&self) {
        if self.0.is_followed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.0.is_followed.swap(true, Ordering::AcqRel) {
            runtime.spawn(follow::run(Followed(Arc::clone(&self.0))));
        }
    }
}

/// The task's hold of the log. Its end lets another task begin.
struct Followed(Arc<Shared>);

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.is_followed.store(false, Ordering::Release);
    }
}

impl Shared {
    fn feed(&self) -> Option<&RevocationFeed> {
        self.feed.get()
    }

    /// Adds entries, and returns how many there was no room for.
    async fn add(&self, entries: &[Revocation]) -> Result<u64, LinkError> {
        let Some((now, most)) =
            self.feed().and_then(|feed| Some((feed.now()?, feed.max_entries()?)))
        else {
            return Ok(0);
        };
        let until = entries.iter().map(Revocation::until).max().unwrap_or_default();
        // The clocks of two processes may differ a little.
        let ttl = until.saturating_sub(now).saturating_add(60).min(MAX_TTL_SECONDS) * 1_000;
        let mut arguments =
            vec![new_counter(), ttl.to_string().into_bytes(), most.to_string().into_bytes()];
        arguments.extend(entries.iter().map(Revocation::to_bytes));
        self.redis.run_on(&self.add, &[&self.key], &arguments, DEADLINE).await
    }

    /// Reads a page from a number on, and the id of the engine if it is wanted.
    async fn read(
        &self,
        from: u64,
        wants_engine: bool,
    ) -> Result<(String, Vec<Member>), LinkError> {
        let arguments = [from, PAGE as u64, u64::from(wants_engine)];
        self.redis.run_on(&self.read, &[&self.key], &arguments, DEADLINE).await
    }

    async fn remove(&self, entries: &[Revocation]) -> Result<(), LinkError> {
        for entries in entries.chunks(CHUNK) {
            let members: Vec<_> = entries.iter().map(Revocation::to_bytes).collect();
            let _: u64 = self.redis.run_on(&self.remove, &[&self.key], &members, DEADLINE).await?;
        }
        Ok(())
    }
}

impl fmt::Debug for RedisLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLog").field("redis", &self.0.redis).finish_non_exhaustive()
    }
}

/// Returns a name for the counter of a log that begins.
fn new_counter() -> Vec<u8> {
    let mut name = vec![COUNTER];
    // Of a process, a clock and a random state no two are alike.
    let random = stockade_auth::generate_token(stockade_auth::DEFAULT_TOKEN_BYTES);
    name.extend(random.unwrap_or_default().as_bytes());
    name
}

/// The time for an answer of the engine.
const DEADLINE: Duration = Duration::from_millis(500);
/// The members of a page that is read.
const PAGE: usize = 1_000;
/// The entries that are sent or removed at once.
const CHUNK: usize = 500;
/// The longest time that a key is kept: a hundred years.
const MAX_TTL_SECONDS: u64 = 100 * 365 * 86_400;
