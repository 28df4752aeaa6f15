//! [`SessionCache`]: sessions that the process has read recently.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use stockade_core::Clock;
use stockade_errors::locks::lock;

use super::store::{SessionKey, StoredSession};
use crate::expiring_table::{Expires, ExpiringTable};
use crate::expiry::{SWEPT_BY_A_CALL, later};

/// Recently read sessions, with limits. Sessions that this process has changed
/// or ended are removed.
pub(super) struct SessionCache {
    time: Duration,
    clock: Clock,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    read: ExpiringTable<SessionKey, Read>,
    /// The recently changed sessions. A read that began before the change is
    /// not cached.
    changed: HashMap<SessionKey, Instant>,
    /// The time of the last change to all sessions.
    all_changed: Option<Instant>,
}

/// A session that was read.
struct Read {
    session: StoredSession,
    /// The beginning of the read.
    at: Instant,
    /// The expiry time of the cached session.
    ends: Instant,
}

impl Expires for Read {
    fn expires_at(&self) -> Instant {
        self.ends
    }

    fn bytes(&self) -> usize {
        size_of(&self.session)
    }
}

impl SessionCache {
    pub(super) fn new(time: Duration, clock: Clock) -> Self {
        Self { time: time.min(LONGEST), clock, table: Mutex::default() }
    }

    /// Returns the current time, as the beginning of a read.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Returns a session that was read recently and has not ended since.
    pub(super) fn get(&self, key: &SessionKey) -> Option<StoredSession> {
        let now = self.now();
        let table = self.table();
        let Read { session, at, .. } = table.read.live(key, now)?;
        let age = now.saturating_duration_since(*at);
        let (idle_left, lifetime_left) =
            (session.idle_left.checked_sub(age)?, session.lifetime_left.checked_sub(age)?);
        let holds = !idle_left.is_zero() && !lifetime_left.is_zero();
        holds.then(|| StoredSession { idle_left, lifetime_left, ..session.clone() })
    }

    /// Caches a session unless it was changed since `begun`, the beginning of
    /// the read.
    pub(super) fn keep(&self, key: &SessionKey, session: &StoredSession, begun: Instant) {
        let now = self.now();
        let table = &mut *self.table();
        let changed = [table.changed.get(key).copied(), table.all_changed];
        if changed.into_iter().flatten().any(|changed| begun <= changed) {
            return;
        }
        let read = &mut table.read;
        read.remove(key);
        read.sweep(now, SWEPT_BY_A_CALL);
        let has_room = |read: &ExpiringTable<SessionKey, Read>| {
            read.len() < MAX_SESSIONS && read.bytes() + size_of(session) <= MAX_BYTES
        };
        if !has_room(read) {
            read.sweep(now, usize::MAX);
        }
        if has_room(read) {
            let ends = later(begun, self.time);
            read.insert(*key, Read { session: session.clone(), at: begun, ends });
        }
    }

    /// Removes a session when the returned value is dropped: after a write has
    /// finished, or if nobody waits for it any longer.
    pub(super) fn changing<'c>(&'c self, key: &'c SessionKey) -> Changing<'c> {
        Changing { cache: self, key }
    }

    fn forget(&self, key: &SessionKey) {
        let now = self.now();
        let table = &mut *self.table();
        table.read.remove(key);
        if table.changed.len() >= MAX_SESSIONS {
            table.changed.retain(|_, at| now.saturating_duration_since(*at) <= LONGEST_READING);
        }
        if table.changed.len() >= MAX_SESSIONS {
            table.changed.clear();
            table.all_changed = Some(now);
        }
        table.changed.insert(*key, now);
    }

    /// Removes all sessions, when the sessions of a subject end.
    pub(super) fn forget_all(&self) {
        let now = self.now();
        *self.table() = Table { all_changed: Some(now), ..Table::default() };
    }

    /// Locks the table, even after a panic in another thread. A session is
    /// removed before its bytes are subtracted, so at worst there is less room.
    fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }
}

/// A write to a session, until it is dropped.
pub(super) struct Changing<'c> {
    cache: &'c SessionCache,
    key: &'c SessionKey,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.cache.forget(self.key);
    }
}

fn size_of(session: &StoredSession) -> usize {
    session.data.len() + session.subject.as_ref().map_or(0, String::len)
}

/// The maximum time for which a session is cached.
const LONGEST: Duration = Duration::from_secs(1);
/// Twice the timeout of a store call.
const LONGEST_READING: Duration = Duration::from_secs(2);
const MAX_SESSIONS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use bytes::Bytes;
    use stockade_auth::SessionId;

    use super::*;

    /// Returns a cache and a function that advances its clock.
    fn timed(millis: u64) -> (SessionCache, impl Fn(u64)) {
        let passed = Arc::new(AtomicU64::new(0));
        let (start, hands) = (Instant::now(), Arc::clone(&passed));
        let clock = Clock::new(move || start + Duration::from_millis(hands.load(Ordering::SeqCst)));
        let advance = move |millis| {
            passed.fetch_add(millis, Ordering::SeqCst);
        };
        (SessionCache::new(Duration::from_millis(millis), clock), advance)
    }

    fn key() -> SessionKey {
        SessionKey::of("session", &SessionId::generate().unwrap())
    }

    fn session(bytes: usize, idle: u64) -> StoredSession {
        StoredSession {
            subject: None,
            data: Bytes::from(vec![0; bytes]),
            version: 1,
            idle_left: Duration::from_millis(idle),
            lifetime_left: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_session_is_cached_for_a_second() {
        let (cache, advance) = timed(5_000);
        let key = key();
        cache.keep(&key, &session(1, 60_000), cache.now());
        advance(999);
        let found = cache.get(&key).unwrap();
        assert_eq!(found.idle_left, Duration::from_millis(59_001));
        advance(1);
        assert_eq!(cache.get(&key), None);
        // An expired session is not found.
        cache.keep(&key, &session(1, 10), cache.now());
        advance(9);
        assert!(cache.get(&key).is_some());
        advance(1);
        assert_eq!(cache.get(&key), None);
    }

    #[test]
    fn does_not_cache_reads_that_began_before_a_change() {
        let (cache, advance) = timed(1_000);
        let key = key();
        let forget_one = |cache: &SessionCache, key: &SessionKey| cache.forget(key);
        let forget_all = |cache: &SessionCache, _: &SessionKey| cache.forget_all();
        let ways: [fn(&SessionCache, &SessionKey); 2] = [forget_one, forget_all];
        for forget in ways {
            cache.keep(&key, &session(1, 60_000), cache.now());
            let begun = cache.now();
            advance(1);
            forget(&cache, &key);
            assert_eq!(cache.get(&key), None);
            cache.keep(&key, &session(1, 60_000), begun);
            assert_eq!(cache.get(&key), None);
            advance(1);
            cache.keep(&key, &session(1, 60_000), cache.now());
            assert!(cache.get(&key).is_some());
        }
    }

    #[test]
    fn cache_size_is_bounded() {
        let (cache, advance) = timed(1_000);
        for _ in 0..MAX_SESSIONS + 10 {
            cache.keep(&key(), &session(1, 60_000), cache.now());
            cache.forget(&key());
        }
        assert_eq!(cache.table().read.len(), MAX_SESSIONS);
        assert!(cache.table().changed.len() <= MAX_SESSIONS);
        advance(1_000);
        let large = [key(), key(), key()];
        for key in &large {
            cache.keep(key, &session(MAX_BYTES / 2, 60_000), cache.now());
        }
        assert_eq!(cache.table().read.len(), 2);
        assert_eq!(cache.table().read.bytes(), MAX_BYTES);
        cache.forget(&large[0]);
        assert_eq!(cache.table().read.bytes(), MAX_BYTES / 2);
    }
}
