//! [`MemorySessionStore`]: sessions in the memory of the process.

mod table;

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use stockade_core::{BoxFuture, Clock};
use stockade_errors::__internal::setters;
use stockade_errors::locks::lock;

use stockade_errors::StoreError;

use self::table::{Entry, Table};
use super::store::{NewSession, SessionKey, SessionStore, SessionWrite, StoredSession, SubjectKey};
use crate::expiry::{SWEPT_BY_A_CALL, later};

/// A store in the memory of the process, with limits.
///
/// It holds at most [`max_sessions`](Self::max_sessions) and
/// [`max_bytes`](Self::max_bytes) of their data. Beyond these limits, a request
/// that creates a session or increases its data gets a 503. A subject has at
/// most [`max_per_subject`](Self::max_per_subject) sessions; one more ends the
/// subject's oldest session. Expired sessions are removed when new ones arrive.
///
/// The store is for one process, and its sessions end with the process.
///
/// ```
/// use stockade::middleware::sessions::MemorySessionStore;
///
/// let store = MemorySessionStore::new().max_sessions(10_000).max_bytes(16 << 20);
/// assert!(store.is_empty());
/// ```
pub struct MemorySessionStore {
    max_sessions: usize,
    max_per_subject: usize,
    max_bytes: usize,
    clock: Clock,
    table: Mutex<Table>,
}

impl MemorySessionStore {
    /// Creates a store for at most 100,000 sessions with 64 MiB of data.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_sessions: 100_000,
            max_per_subject: 100,
            max_bytes: 64 << 20,
            clock: Clock::default(),
            table: Mutex::default(),
        }
    }

    setters! {
        /// Sets the maximum number of sessions, which use about 400 bytes each
        /// in addition to their data. Default: 100,000.
        max_sessions: usize;

        /// Sets the maximum number of sessions of one subject. Default: 100; 0
        /// counts as 1.
        max_per_subject: usize;

        /// Sets the maximum number of bytes of all data. Default: 64 MiB.
        max_bytes: usize;
    }

    /// Replaces the system clock, for tests that do not wait. The time must
    /// never decrease.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(clock);
        self
    }

    /// Returns the number of sessions, including expired sessions that are not
    /// yet removed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if the store is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Locks the table, even after a panic in another thread, because a session
    /// is never half written.
    fn lock(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    fn create_now(
        &self,
        key: &SessionKey,
        new: NewSession<'_>,
    ) -> Result<SessionWrite, StoreError> {
        let now = self.clock.now();
        let mut table = self.lock();
        table.sweep(now, SWEPT_BY_A_CALL);
        let mut freed = (0, 0);
        if let Some(replaced) = &new.replaces {
            let Some(old) = table.live(&replaced.key, now) else {
                return Ok(SessionWrite::Missing);
            };
            if old.version != replaced.version {
                return Ok(SessionWrite::Changed);
            }
            freed = (1, old.data.len());
        }
        let fits = |table: &Table| {
            table.len() - freed.0 < self.max_sessions
                && table.bytes() - freed.1 + new.data.len() <= self.max_bytes
        };
        if !fits(&table) {
            // The replaced session has not expired, so it remains.
            table.sweep(now, usize::MAX);
            if !fits(&table) {
                return Err(StoreError::Full);
            }
        }
        if let Some(replaced) = &new.replaces {
            table.remove(&replaced.key);
        }
        let subject = new.subject.map(|subject| (subject.name.to_owned(), subject.key));
        if let Some(subject) = new.subject {
            table.make_room_for(&subject.key, self.max_per_subject.max(1), now);
        }
        let ends = later(now, new.lifetime);
        let idle_until = later(now, new.idle).min(ends);
        table.insert(*key, Entry { subject, data: new.data, version: 1, idle_until, ends });
        Ok(SessionWrite::Written)
    }

    fn load_now(&self, key: &SessionKey) -> Option<StoredSession> {
        let now = self.clock.now();
        let table = self.lock();
        table.live(key, now).map(|entry| StoredSession {
            subject: entry.subject.as_ref().map(|(name, _)| name.clone()),
            data: entry.data.clone(),
            version: entry.version,
            idle_left: entry.idle_until.saturating_duration_since(now),
            lifetime_left: entry.ends.saturating_duration_since(now),
        })
    }

    fn update_now(
        &self,
        key: &SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> Result<SessionWrite, StoreError> {
        let now = self.clock.now();
        let mut table = self.lock();
        let Some(entry) = table.live(key, now) else { return Ok(SessionWrite::Missing) };
        if entry.version != version {
            return Ok(SessionWrite::Changed);
        }
        let before = entry.data.len();
        let grows = data.len() > before;
        if grows && table.bytes() - before + data.len() > self.max_bytes {
            table.sweep(now, usize::MAX);
            if table.bytes() - before + data.len() > self.max_bytes {
                return Err(StoreError::Full);
            }
        }
        table.change(key, |entry| {
            entry.version += 1;
            entry.data = data;
            entry.idle_until = later(now, idle).min(entry.ends);
        });
        Ok(SessionWrite::Written)
    }

    fn touch_now(&self, key: &SessionKey, idle: Duration) -> bool {
        let now = self.clock.now();
        let mut table = self.lock();
        let is_there = table.live(key, now).is_some();
        if is_there {
            table.change(key, |entry| entry.idle_until = later(now, idle).min(entry.ends));
        }
        is_there
    }

    fn destroy_now(&self, key: &SessionKey) -> bool {
        let now = self.clock.now();
        let mut table = self.lock();
        let is_there = table.live(key, now).is_some();
        table.remove(key);
        is_there
    }

    fn destroy_all_now(&self, subject: &SubjectKey) -> u64 {
        let now = self.clock.now();
        self.lock().remove_all(subject, now)
    }
}

impl Default for MemorySessionStore {
    fn default() -> Self {
        Self::new()
    }
}

impl SessionStore for MemorySessionStore {
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(async move { self.create_now(key, session) })
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move { Ok(self.load_now(key)) })
    }

    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(async move { self.update_now(key, version, data, idle) })
    }

    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.touch_now(key, idle)) })
    }

    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.destroy_now(key)) })
    }

    fn destroy_all<'a>(
        &'a self,
        subject: &'a SubjectKey,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move { Ok(self.destroy_all_now(subject)) })
    }
}

impl fmt::Debug for MemorySessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySessionStore")
            .field("sessions", &self.len())
            .field("max_sessions", &self.max_sessions)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
