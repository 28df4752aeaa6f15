//! [`Beyond`]: revocations above `Revocations::max_entries`, which are stored
//! only in the log. The log is queried for each token.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use stockade_errors::locks::lock;

use super::entry::{Kind, Named, Revocation, RevocationKey};
use crate::Claims;

/// Records that the log has revocations that are not in memory, and caches log
/// lookups.
pub(super) struct Beyond {
    /// The latest expiry of these revocations, in seconds since 1970; 0 if
    /// there are none.
    until: AtomicU64,
    /// The expiry times of the notes in the log.
    notes: Mutex<BTreeSet<u64>>,
    lookups: Mutex<HashMap<RevocationKey, CachedLookup>>,
}

/// The log's result for one key, with its time.
struct CachedLookup {
    at_millis: u64,
    found: Option<Revocation>,
}

impl Beyond {
    pub(super) fn new() -> Self {
        Self {
            until: AtomicU64::new(0),
            notes: Mutex::new(BTreeSet::new()),
            lookups: Mutex::new(HashMap::new()),
        }
    }

    /// Records that the log has revocations that are not in memory, until this
    /// time.
    pub(super) fn note(&self, until: u64) {
        lock(&self.notes).insert(until);
        if self.until.fetch_max(until, Ordering::AcqRel) == 0 {
            log::warn!(
                target: crate::LOG_TARGET,
                "there are more revocations than Revocations::max_entries: the log is now queried \
                 for each token, one round trip every few seconds per token",
            );
        }
    }

    /// Returns true if the log must be queried for a token. Reads the clock
    /// only if such a revocation ever existed.
    pub(super) fn is_there(&self, now: impl FnOnce() -> u64) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until > 0 && now() < until
    }

    /// Removes expired notes.
    pub(super) fn sweep(&self, now: u64, expired: &mut Vec<Revocation>) {
        let mut notes = lock(&self.notes);
        let kept = notes.split_off(&now.saturating_add(1));
        expired.extend(notes.iter().copied().map(Revocation::beyond));
        *notes = kept;
        if notes.is_empty() && self.until.load(Ordering::Acquire) <= now {
            lock(&self.lookups).clear();
        }
    }

    pub(super) fn list(&self, entries: &mut Vec<Revocation>) {
        entries.extend(lock(&self.notes).iter().copied().map(Revocation::beyond));
    }

    /// Caches the log lookup of a key.
    pub(super) fn keep(&self, key: RevocationKey, found: Option<Revocation>, at_millis: u64) {
        let mut lookups = lock(&self.lookups);
        if lookups.len() >= MAX_LOOKUPS && !lookups.contains_key(&key) {
            lookups.retain(|_, lookup| is_younger(lookup, at_millis, FRESH_MILLIS));
            if lookups.len() >= MAX_LOOKUPS {
                lookups.clear();
            }
        }
        lookups.insert(key, CachedLookup { at_millis, found });
    }

    /// Removes a key from the cache.
    pub(super) fn forget(&self, key: &RevocationKey) {
        lock(&self.lookups).remove(key);
    }

    /// Returns whether a token is revoked, according to cached lookups up to
    /// this age, or `None` if they are not sufficient. A positive lookup may be
    /// older, because a revocation is never undone.
    pub(super) fn validate(
        &self,
        claims: &Claims,
        keys: &[RevocationKey],
        now: u64,
        (at_millis, max_age): (u64, u64),
    ) -> Option<bool> {
        let lookups = lock(&self.lookups);
        let mut is_known = true;
        for key in keys {
            let lookup = lookups.get(key);
            let found = lookup.and_then(|lookup| lookup.found);
            if found.is_some_and(|entry| entry.revokes(claims, now)) {
                return Some(true);
            }
            is_known &= lookup.is_some_and(|lookup| is_younger(lookup, at_millis, max_age));
        }
        is_known.then_some(false)
    }
}

/// Returns the keys that may revoke a token.
pub(super) fn keys_of(claims: &Claims) -> Vec<RevocationKey> {
    let token = Named::token(claims);
    let tokens = [token.name(), token.unbound_name()].map(|name| Revocation::token(name, 0));
    let subject = Named::subject_of(claims);
    let subjects = subject.map(|subject| {
        [
            Revocation::subject_millis(subject.name(), 0, 0),
            // The format of earlier versions.
            Revocation::subject(subject.name(), 0, 0),
            Revocation::subject(subject.unbound_name(), 0, 0),
        ]
    });
    let mut keys: Vec<_> =
        tokens.iter().chain(subjects.iter().flatten()).map(Revocation::key).collect();
    // A token without an id has the same name in both formats.
    keys.dedup();
    keys
}

impl Revocation {
    /// Returns true if this entry, which has a key of the token, revokes it.
    fn revokes(&self, claims: &Claims, now: u64) -> bool {
        let is_meant = match self.kind() {
            Kind::Token => true,
            Kind::Subject { before } => claims.is_older(before),
            Kind::SubjectMillis { before } => claims.is_older_millis(before),
            Kind::Beyond => false,
        };
        is_meant && now < self.until()
    }
}

fn is_younger(lookup: &CachedLookup, at_millis: u64, max_age: u64) -> bool {
    at_millis.saturating_sub(lookup.at_millis) <= max_age
}

/// The maximum age of a valid lookup, in milliseconds.
pub(super) const FRESH_MILLIS: u64 = 5_000;
/// The maximum number of cached lookups, which use about 10 MB.
const MAX_LOOKUPS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_lookup_results_are_bounded() {
        let beyond = Beyond::new();
        let key = |number: u64| {
            let mut key = [0; 17];
            key[..8].copy_from_slice(&number.to_be_bytes());
            key
        };
        for number in 0..MAX_LOOKUPS as u64 {
            beyond.keep(key(number), None, u64::from(number >= 10) * 10_000);
        }
        assert_eq!(lock(&beyond.lookups).len(), MAX_LOOKUPS);
        // First the ten old lookups are removed, then all others.
        beyond.keep(key(u64::MAX), None, 10_000);
        assert_eq!(lock(&beyond.lookups).len(), MAX_LOOKUPS - 9);
        for number in 0..11 {
            beyond.keep(key(u64::MAX - 1 - number), None, 10_000);
        }
        assert!(lock(&beyond.lookups).len() < 11);
    }

    #[test]
    fn notes_expire() {
        let (beyond, mut expired) = (Beyond::new(), Vec::new());
        beyond.note(20);
        beyond.note(10);
        assert!(!Beyond::new().is_there(|| unreachable!()));
        assert!(beyond.is_there(|| 19) && !beyond.is_there(|| 20));
        beyond.sweep(10, &mut expired);
        assert_eq!(expired, [Revocation::beyond(10)]);
        beyond.list(&mut expired);
        assert_eq!(expired, [Revocation::beyond(10), Revocation::beyond(20)]);
    }
}
