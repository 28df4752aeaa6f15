//! Token revocations, shared by all processes through Redis.
//!
//! - `cursor`: the position up to which a process has read the log, as data.
//! - `follow`: the task that reads and repairs the log.
//! - `add.lua`, `read.lua`, `remove.lua`: the log, a set sorted by number.
//! - `ask.lua`: revocations that do not fit into the log, each under a separate
//!   key.

mod cursor;
mod follow;
#[cfg(test)]
mod simulation;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stockade_auth::{
    PublishFuture, QueryFuture, Revocation, RevocationFeed, RevocationKey, RevocationLog,
    Revocations, RevokeError,
};
use tokio::runtime::Handle;

use crate::error::LinkError;
use crate::link::Redis;
use crate::revocations::cursor::{COUNTER, Member};
use crate::script::Script;

impl Redis {
    /// Returns token revocations that all processes with the same Redis server
    /// and prefix share. Call this once per program and clone the result.
    ///
    /// Each process holds all revocations in memory and reads new ones 20 times
    /// a second. Redis stores a log of hashes; it never sees tokens or names.
    /// Each process checks every 5 seconds that the server is still the same.
    /// If the server was replaced or has lost its data, each process restores
    /// the entries it has in memory.
    ///
    /// Revocations beyond [`Revocations::max_entries`] are only in Redis,
    /// within its memory limit. Each process then queries Redis for each
    /// incoming token, with a time limit of 500 ms, and caches the result for 5
    /// s. During this time another process may still accept a token that it has
    /// just seen. If the server loses its data, these revocations are lost.
    ///
    /// [`Revocations::revoke`] takes effect in this process at once, even if it
    /// fails because Redis is down. The other processes receive the revocation
    /// when Redis is back. The status of a token is unknown before the first
    /// contact and when the last contact is more than 30 s ago: see
    /// [`Revocations::stale`]. Revocations are lost if the server loses its
    /// data while no process is running. Enable persistence (`appendonly yes`)
    /// to prevent this.
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
            key: format!("{}:{{revoked}}", self.prefix()),
            redis: self.clone(),
            feed: OnceLock::new(),
            add: Script::new(include_str!("add.lua")),
            read: Script::new(include_str!("read.lua")),
            remove: Script::new(include_str!("remove.lua")),
            ask: Script::new(include_str!("ask.lua")),
            is_followed: AtomicBool::new(false),
            has_unsent: AtomicBool::new(false),
        };
        Revocations::shared(Arc::new(RedisLog(Arc::new(shared))))
    }
}

/// The revocation log in Redis.
struct RedisLog(Arc<Shared>);

/// The state that the log's handle and task share.
struct Shared {
    redis: Redis,
    key: String,
    feed: OnceLock<RevocationFeed>,
    add: Script,
    read: Script,
    remove: Script,
    ask: Script,
    /// True while the task runs.
    is_followed: AtomicBool,
    /// True if Redis may lack a revocation of this process.
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
            let Err(error) = self.0.add(&[entry], Room::OfLog).await else { return Ok(()) };
            self.0.has_unsent.store(true, Ordering::Release);
            Err(RevokeError::Log(error.into()))
        })
    }

    fn can_query(&self) -> bool {
        true
    }

    fn publish_beyond(&self, entry: Revocation) -> PublishFuture<'_> {
        self.wake();
        Box::pin(async move {
            let added = self.0.add(&[entry], Room::None).await;
            added.map(|_| ()).map_err(|error| RevokeError::Beyond(error.into()))
        })
    }

    fn query<'a>(&'a self, keys: &'a [RevocationKey]) -> QueryFuture<'a> {
        self.wake();
        Box::pin(async move {
            let names: Vec<String> = keys.iter().map(|key| self.0.key_of(key)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let none: [&[u8]; 0] = [];
            let redis = &self.0.redis;
            let found: Vec<String> = redis.run_on(&self.0.ask, &names, &none, DEADLINE).await?;
            Ok(keys.iter().zip(found).map(|(key, times)| entry_of(key, &times)).collect())
        })
    }

    /// Starts the task if it is not running: the log was created outside a
    /// runtime, or its runtime has ended.
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

/// The task's ownership of the log. Dropping it allows another task to start.
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

    /// Adds entries to the log, or under separate keys when the log is full.
    /// Returns the number of entries that did not fit.
    async fn add(&self, entries: &[Revocation], room: Room) -> Result<u64, LinkError> {
        let Some(feed) = self.feed() else { return Ok(0) };
        let Some((now, most)) = feed.now().zip(feed.max_entries()) else { return Ok(0) };
        let most = if room == Room::None { 0 } else { most };
        let until = entries.iter().map(Revocation::until).max().unwrap_or_default();
        // Rounded up to full hours to keep the number of notes small.
        let note_until = until.div_ceil(NOTE_SECONDS).saturating_mul(NOTE_SECONDS);
        let note = Revocation::beyond(note_until);
        let number = |number: u64| number.to_string().into_bytes();
        let mut keys = vec![self.key.clone()];
        let mut arguments = vec![new_counter(), number(life_millis(note_until, now))];
        arguments.extend([number(most as u64), note.to_bytes()]);
        for entry in entries {
            keys.push(self.key_of(&entry.key()));
            let (ends, before) = times_of(entry);
            let life = number(life_millis(ends, now));
            arguments.extend([entry.to_bytes(), number(ends), number(before), life]);
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let beyond = self.redis.run_on(&self.add, &keys, &arguments, DEADLINE).await?;
        if beyond > 0 {
            feed.apply([note]);
        }
        Ok(beyond)
    }

    /// Returns the Redis key for an entry that does not fit into the log.
    fn key_of(&self, key: &RevocationKey) -> String {
        format!("{}:{}", self.key, hex::encode(key))
    }

    /// Reads a page that starts at a number, and optionally the server ID.
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

/// The place where entries are stored.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Room {
    /// In the log, while it has room.
    OfLog,
    /// Not in the log: each entry gets a separate key.
    None,
}

/// Returns the TTL, in milliseconds, of an entry that ends at this time.
fn life_millis(until: u64, now: u64) -> u64 {
    // The clocks of two processes may differ slightly.
    until.saturating_sub(now).saturating_add(60).min(MAX_TTL_SECONDS) * 1_000
}

/// Returns the end of an entry and, for a subject, the time before which tokens
/// are revoked. Both fit into Lua numbers.
fn times_of(entry: &Revocation) -> (u64, u64) {
    let bytes = entry.to_bytes();
    let before = bytes.get(25..).and_then(|bytes| bytes.try_into().ok());
    let before = before.map(u64::from_be_bytes).unwrap_or_default();
    (entry.until().min(MAX_NUMBER), before.min(MAX_NUMBER))
}

/// Builds the entry from its key and times, if they are valid.
fn entry_of(key: &RevocationKey, times: &str) -> Option<Revocation> {
    let (until, before) = times.split_once(' ')?;
    let (until, before): (u64, u64) = (until.parse().ok()?, before.parse().ok()?);
    let bytes = [&key[..], &until.to_be_bytes(), &before.to_be_bytes()].concat();
    // An entry for a token does not have the second time.
    Revocation::from_bytes(&bytes).or_else(|| Revocation::from_bytes(bytes.get(..25)?))
}

/// Creates a name for the counter of a new log.
fn new_counter() -> Vec<u8> {
    let mut name = vec![COUNTER];
    // Random, so that no two logs have the same counter name.
    let random = stockade_auth::generate_token(stockade_auth::DEFAULT_TOKEN_BYTES);
    name.extend(random.unwrap_or_default().as_bytes());
    name
}

/// The time limit for a response.
const DEADLINE: Duration = Duration::from_millis(500);
/// The number of members per page.
const PAGE: usize = 1_000;
/// The number of entries per write or removal.
const CHUNK: usize = 500;
/// The end times of notes are multiples of this.
const NOTE_SECONDS: u64 = 3_600;
/// The largest integer that Lua represents exactly.
const MAX_NUMBER: u64 = 1 << 53;
/// The maximum TTL of a key: 100 years.
const MAX_TTL_SECONDS: u64 = 100 * 365 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_through_keys_and_times() {
        for (kind, times) in [
            (1, &[1_700_000_000][..]),
            (2, &[1_700_000_000, 1_699_999_999]),
            (4, &[1_700_000_000, 1_699_999_999_250]),
        ] {
            let times = times.iter().copied().map(u64::to_be_bytes).collect::<Vec<_>>().concat();
            let bytes = [&[kind], &[7; 16][..], &times].concat();
            let entry = Revocation::from_bytes(&bytes).unwrap();
            let (until, before) = times_of(&entry);
            assert_eq!(entry_of(&entry.key(), &format!("{until} {before}")), Some(entry));
        }
    }
}
