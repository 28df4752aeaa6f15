//! [`Redis::revocations`]: what is revoked, in all processes with an engine.
//!
//! - `cursor`: the place in the log up to which a process has read, as data.
//! - `follow`: the task that reads the log and repairs it.
//! - `add.lua`, `read.lua`, `remove.lua`: the log, a sorted set by number.
//! - `ask.lua`: what the log has no room for, under a key of its own each.

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
    /// Returns revocations of tokens that all processes with the same engine and prefix
    /// share. Take it once in a program, and clone it.
    ///
    /// Each process has all of them in memory, and reads what is new 20 times a second.
    /// The engine has a log of hashes: it sees no token and no name. Every 5 seconds a
    /// process looks if the engine is still the same. If it is not, or has lost its
    /// data, each process puts back what it knows.
    ///
    /// Beyond [`Revocations::max_entries`] the engine alone has what is revoked, as far
    /// as its memory goes, and is asked for each token that comes, within 500 ms and at
    /// most every 5 s for each: so long another process may still accept one that it has
    /// just seen. An engine that loses its data has forgotten these.
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
    ask: Script,
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

    /// Adds entries to the log, or beside it where there is no room. Returns how many
    /// there was none for.
    async fn add(&self, entries: &[Revocation], room: Room) -> Result<u64, LinkError> {
        let Some(feed) = self.feed() else { return Ok(0) };
        let Some((now, most)) = feed.now().zip(feed.max_entries()) else { return Ok(0) };
        let most = if room == Room::None { 0 } else { most };
        let until = entries.iter().map(Revocation::until).max().unwrap_or_default();
        // Of an hour each, so that they are few.
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

    /// Returns the key of what has no place in the log.
    fn key_of(&self, key: &RevocationKey) -> String {
        format!("{}:{}", self.key, hex::encode(key))
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

/// The room that entries are given.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Room {
    /// That of the log, as long as there is some.
    OfLog,
    /// None: they get keys of their own.
    None,
}

/// Returns the milliseconds for which something is kept that ends at this time.
fn life_millis(until: u64, now: u64) -> u64 {
    // The clocks of two processes may differ a little.
    until.saturating_sub(now).saturating_add(60).min(MAX_TTL_SECONDS) * 1_000
}

/// Returns the end of an entry and, of that of a subject, its time; as numbers that Lua
/// can compare.
fn times_of(entry: &Revocation) -> (u64, u64) {
    let bytes = entry.to_bytes();
    let before = bytes.get(25..).and_then(|bytes| bytes.try_into().ok());
    let before = before.map(u64::from_be_bytes).unwrap_or_default();
    (entry.until().min(MAX_NUMBER), before.min(MAX_NUMBER))
}

/// Returns the entry that has this key and these times, if it is one.
fn entry_of(key: &RevocationKey, times: &str) -> Option<Revocation> {
    let (until, before) = times.split_once(' ')?;
    let (until, before): (u64, u64) = (until.parse().ok()?, before.parse().ok()?);
    let bytes = [&key[..], &until.to_be_bytes(), &before.to_be_bytes()].concat();
    // That of a token has no time.
    Revocation::from_bytes(&bytes).or_else(|| Revocation::from_bytes(bytes.get(..25)?))
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
/// The ends of notes are multiples of it.
const NOTE_SECONDS: u64 = 3_600;
/// The largest number that Lua has exactly.
const MAX_NUMBER: u64 = 1 << 53;
/// The longest time that a key is kept: a hundred years.
const MAX_TTL_SECONDS: u64 = 100 * 365 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_times_make_the_same_entry() {
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
