//! [`MemoryIdempotencyStore`]: idempotency keys in the memory of the process.

mod owners;

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use stockade_core::{BoxFuture, Clock};
use stockade_errors::__internal::setters;
use stockade_errors::StoreError;
use stockade_errors::locks::lock;
use stockade_validation::__internal::LogRate;

use self::owners::{Finished, Owners};
use super::key::ScopedKey;
use super::store::{IdempotencyStore, Nonce, Reservation, ReserveOutcome, SHORT_RECORD_BYTES};
use crate::expiring_table::{Expires, ExpiringTable};
use crate::expiry::{SWEPT_BY_A_CALL, later};

/// A store in the memory of the process, with limits.
///
/// It holds at most [`max_keys`](Self::max_keys), of about 500 bytes each, and
/// [`max_bytes`](Self::max_bytes) of responses. Each user or client has at most
/// [`max_keys_per_owner`](Self::max_keys_per_owner) and
/// [`max_bytes_per_owner`](Self::max_bytes_per_owner) of these. Expired keys
/// are removed when new ones arrive.
///
/// If a user or client reaches its limit, a new key or response replaces the
/// oldest finished key of this user or client. If the store is full, it
/// replaces the oldest finished key of the owner with the most keys or bytes. A
/// few clients that send very many keys therefore evict their own keys, and
/// other clients are not affected. A retry of an evicted key runs its handler
/// again. Evictions are logged at warn level, at most once a second. Choose
/// limits that hold all keys of the time to live.
///
/// A key is never replaced while its handler runs or its result is unknown. If
/// the store is full of such keys, a request with a new key gets a 503. A
/// response that no longer fits is not stored, and its retry gets a 409. The
/// same applies to a response that is larger than a limit.
///
/// The store is for one process. If you run several processes, a retry may
/// reach a process that has not seen the key.
///
/// ```
/// use stockade::middleware::idempotency::MemoryIdempotencyStore;
///
/// let store = MemoryIdempotencyStore::new().max_keys(10_000).max_bytes(16 << 20);
/// assert!(store.is_empty());
/// ```
pub struct MemoryIdempotencyStore {
    max_keys: usize,
    max_keys_per_owner: Option<usize>,
    max_bytes: usize,
    max_bytes_per_owner: Option<usize>,
    replaced: LogRate,
    clock: Clock,
    places: Mutex<Places>,
}

type Places = ExpiringTable<ScopedKey, Place, Owners>;

struct Place {
    fingerprint: [u8; 32],
    nonce: Nonce,
    state: PlaceState,
    /// The place is empty after this time.
    ends: Instant,
}

enum PlaceState {
    /// A handler is running, at least until the end of its lease.
    Held {
        leased_until: Instant,
    },
    Done {
        record: Bytes,
        finished: Finished,
    },
}

/// The limit that a new key or response would exceed.
#[derive(Clone, Copy)]
enum Excess {
    /// The limit of the user or client.
    Owner,
    /// The limit of the whole store.
    Store,
}

impl MemoryIdempotencyStore {
    /// Creates a store for at most 100,000 keys and 64 MiB of responses.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_keys: 100_000,
            max_keys_per_owner: None,
            max_bytes: 64 << 20,
            max_bytes_per_owner: None,
            replaced: LogRate::default(),
            clock: Clock::default(),
            places: Mutex::default(),
        }
    }

    setters! {
        /// Sets the maximum number of keys. Default: 100,000.
        max_keys: usize;

        /// Sets the maximum number of keys of one user or client. Default: a
        /// tenth of [`max_keys`](Self::max_keys), at least 100.
        max_keys_per_owner: some usize;

        /// Sets the maximum number of bytes of all responses. Default: 64 MiB.
        max_bytes: usize;

        /// Sets the maximum number of bytes of the responses of one user or
        /// client. Default: a tenth of [`max_bytes`](Self::max_bytes), at least
        /// 1 MiB.
        max_bytes_per_owner: some usize;
    }

    /// Replaces the system clock, for tests that do not wait. The time must
    /// never decrease.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(clock);
        self
    }

    /// Returns the number of keys, including expired keys that are not yet
    /// removed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if the store is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of all responses.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().bytes()
    }

    /// Locks the table, even after a panic in another thread, because a place
    /// is never half written.
    fn lock(&self) -> MutexGuard<'_, Places> {
        lock(&self.places)
    }

    fn take_now(&self, key: &ScopedKey, claim: &Reservation) -> Result<ReserveOutcome, StoreError> {
        let now = self.clock.now();
        let mut places = self.lock();
        places.sweep(now, SWEPT_BY_A_CALL);
        if let Some(place) = places.live(key, now) {
            if place.fingerprint != claim.fingerprint {
                return Ok(ReserveOutcome::OtherFingerprint);
            }
            let taken = match &place.state {
                PlaceState::Done { record, .. } => ReserveOutcome::Done(record.clone()),
                PlaceState::Held { .. } if place.nonce == claim.nonce => ReserveOutcome::New,
                PlaceState::Held { leased_until } if *leased_until > now => ReserveOutcome::Running,
                PlaceState::Held { .. } => ReserveOutcome::Crashed,
            };
            if taken == ReserveOutcome::New {
                places.hold(key, claim, now);
            }
            return Ok(taken);
        }
        places.remove(key);
        if !self.make_room_for_key(&mut places, key, now) {
            return Err(StoreError::Full);
        }
        places.hold(key, claim, now);
        Ok(ReserveOutcome::New)
    }

    /// Removes finished keys until there is room for a new one. Returns false
    /// if there is not enough room.
    fn make_room_for_key(&self, places: &mut Places, key: &ScopedKey, now: Instant) -> bool {
        let of_owner = self.max_keys_per_owner.unwrap_or_else(|| (self.max_keys / 10).max(100));
        if self.max_keys == 0 || of_owner == 0 {
            return false;
        }
        let excess = |places: &Places| match places.index().keys_of(key) >= of_owner {
            true => Some(Excess::Owner),
            false => (places.len() >= self.max_keys).then_some(Excess::Store),
        };
        self.make_room(places, now, excess, |owners, excess| match excess {
            Excess::Owner => owners.oldest_of(key),
            Excess::Store => owners.oldest_of_most_keys(),
        })
    }

    /// Removes finished keys until there is room for the response of a key.
    /// Returns false, and removes nothing, if the response is larger than a
    /// limit.
    fn make_room_for_bytes(
        &self,
        places: &mut Places,
        key: &ScopedKey,
        more: usize,
        now: Instant,
    ) -> bool {
        let of_owner = self.max_bytes_per_owner;
        let of_owner = of_owner.unwrap_or_else(|| (self.max_bytes / 10).max(MIN_OWNER_BYTES));
        if more == 0 {
            return true;
        }
        if more > of_owner.min(self.max_bytes) {
            return false;
        }
        let excess = |places: &Places| match places.index().bytes_of(key) > of_owner - more {
            true => Some(Excess::Owner),
            false => (places.bytes() > self.max_bytes - more).then_some(Excess::Store),
        };
        self.make_room(places, now, excess, |owners, excess| match excess {
            Excess::Owner => owners.oldest_with_bytes_of(key),
            Excess::Store => owners.oldest_of_most_bytes(),
        })
    }

    /// Removes expired keys, and then finished keys one by one, until no limit
    /// is exceeded. Returns false if no key can be removed.
    fn make_room(
        &self,
        places: &mut Places,
        now: Instant,
        excess: impl Fn(&Places) -> Option<Excess>,
        oldest: impl Fn(&Owners, Excess) -> Option<ScopedKey>,
    ) -> bool {
        let mut has_swept = false;
        while let Some(excess) = excess(places) {
            if has_swept {
                let replaced = oldest(places.index(), excess);
                if !self.replace(places, replaced) {
                    return false;
                }
            } else {
                places.sweep(now, usize::MAX);
                has_swept = true;
            }
        }
        true
    }

    /// Removes a finished key before it expires. Returns false if there is
    /// none.
    fn replace(&self, places: &mut Places, key: Option<ScopedKey>) -> bool {
        let removed = key.and_then(|key| places.remove(&key));
        if removed.is_some()
            && let Some(unlogged) = self.replaced.next()
        {
            log::warn!(
                target: "stockade",
                "an idempotency key was removed early, and so were {unlogged} others, because the \
                 in-memory store is full; a retry of such a key runs its handler again; raise \
                 max_keys and max_bytes of MemoryIdempotencyStore, or use a store such as Redis"
            );
        }
        removed.is_some()
    }

    fn renew_now(&self, key: &ScopedKey, claim: &Reservation) -> bool {
        let now = self.clock.now();
        let mut places = self.lock();
        let place = places.live(key, now).filter(|place| place.is_held_by(&claim.nonce));
        let Some(fingerprint) = place.map(|place| place.fingerprint) else { return false };
        places.hold(key, &Reservation { fingerprint, ..claim.clone() }, now);
        true
    }

    fn complete_now(
        &self,
        key: &ScopedKey,
        nonce: &Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let mut places = self.lock();
        let Some(place) = places.live(key, now).filter(|place| place.nonce == *nonce) else {
            return Ok(false);
        };
        if let PlaceState::Done { .. } = place.state {
            return Ok(true);
        }
        let more = counted(&record);
        if !self.make_room_for_bytes(&mut places, key, more, now) {
            return Err(StoreError::Full);
        }
        let Some(mut place) = places.remove(key) else { return Ok(false) };
        let finished = places.index_mut().next_finished(more);
        place.state = PlaceState::Done { record, finished };
        place.ends = later(now, ttl);
        places.insert(*key, place);
        Ok(true)
    }

    fn free_now(&self, key: &ScopedKey, nonce: &Nonce) -> bool {
        let now = self.clock.now();
        let mut places = self.lock();
        let is_held = places.live(key, now).is_some_and(|place| place.is_held_by(nonce));
        if is_held {
            places.remove(key);
        }
        is_held
    }
}

impl Default for MemoryIdempotencyStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    fn is_held_by(&self, nonce: &Nonce) -> bool {
        self.nonce == *nonce && matches!(self.state, PlaceState::Held { .. })
    }
}

impl Places {
    /// Sets the place of a key to a lease that begins now.
    fn hold(&mut self, key: &ScopedKey, claim: &Reservation, now: Instant) {
        let leased_until = later(now, claim.lease);
        let remembered = claim.remember_crash.map(|time| later(now, time));
        let ends = remembered.map_or(leased_until, |until| until.max(leased_until));
        let state = PlaceState::Held { leased_until };
        let (fingerprint, nonce) = (claim.fingerprint, claim.nonce);
        self.insert(*key, Place { fingerprint, nonce, state, ends });
    }
}

impl Expires for Place {
    fn expires_at(&self) -> Instant {
        self.ends
    }

    fn bytes(&self) -> usize {
        self.finished().map_or(0, |finished| finished.bytes)
    }
}

impl Place {
    fn finished(&self) -> Option<Finished> {
        match &self.state {
            PlaceState::Held { .. } => None,
            PlaceState::Done { finished, .. } => Some(*finished),
        }
    }
}

/// Returns the number of bytes that a record counts toward the limits. A short
/// record counts as part of its place.
fn counted(record: &Bytes) -> usize {
    if record.len() <= SHORT_RECORD_BYTES { 0 } else { record.len() }
}

/// The minimum of the default for `max_bytes_per_owner`.
const MIN_OWNER_BYTES: usize = 1 << 20;

impl IdempotencyStore for MemoryIdempotencyStore {
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        Box::pin(async move { self.take_now(key, claim) })
    }

    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.renew_now(key, claim)) })
    }

    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.complete_now(key, nonce, record, ttl) })
    }

    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.free_now(key, nonce)) })
    }
}

impl fmt::Debug for MemoryIdempotencyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryIdempotencyStore")
            .field("keys", &self.len())
            .field("max_keys", &self.max_keys)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
