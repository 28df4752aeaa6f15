//! [`Owners`]: the share of each owner in the store, and the keys that may be
//! evicted.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::Place;
use crate::expiring_table::Index;
use crate::idempotency::key::ScopedKey;

/// The SHA-256 of a user or client.
type OwnerId = [u8; 32];

/// The keys and bytes of each owner. All parts always agree.
#[derive(Default)]
pub(super) struct Owners {
    by_owner: HashMap<OwnerId, Owner>,
    /// The owners with a finished key, by their number of keys. Among owners
    /// with the same number, the owner with the older finished key is last.
    by_keys: BTreeSet<Rank>,
    /// The owners with a finished key that has bytes, by their bytes.
    by_bytes: BTreeSet<Rank>,
    /// The number of keys finished so far, including removed ones.
    finished: u64,
}

type Rank = (usize, Reverse<u64>, OwnerId);

#[derive(Default)]
struct Owner {
    keys: usize,
    bytes: usize,
    /// The finished keys, the oldest first.
    finished: BTreeSet<(u64, ScopedKey)>,
    /// The finished keys that have bytes, the oldest first.
    with_bytes: BTreeSet<(u64, ScopedKey)>,
}

/// The bytes of a finished key, and its position in the order of all finished
/// keys.
#[derive(Clone, Copy)]
pub(super) struct Finished {
    pub(super) bytes: usize,
    number: u64,
}

impl Owners {
    /// Returns the number of keys that the owner of `key` has.
    pub(super) fn keys_of(&self, key: &ScopedKey) -> usize {
        self.by_owner.get(key.owner()).map_or(0, |owner| owner.keys)
    }

    /// Returns the number of bytes that the owner of `key` has.
    pub(super) fn bytes_of(&self, key: &ScopedKey) -> usize {
        self.by_owner.get(key.owner()).map_or(0, |owner| owner.bytes)
    }

    /// Returns the position and the bytes of a key that finishes now.
    pub(super) fn next_finished(&mut self, bytes: usize) -> Finished {
        self.finished += 1;
        Finished { bytes, number: self.finished }
    }

    /// Returns the oldest finished key that the owner of `key` has.
    pub(super) fn oldest_of(&self, key: &ScopedKey) -> Option<ScopedKey> {
        oldest(&self.by_owner.get(key.owner())?.finished)
    }

    /// Returns the oldest finished key with bytes that the owner of `key` has.
    pub(super) fn oldest_with_bytes_of(&self, key: &ScopedKey) -> Option<ScopedKey> {
        oldest(&self.by_owner.get(key.owner())?.with_bytes)
    }

    /// Returns the oldest finished key of the owner with the most keys.
    pub(super) fn oldest_of_most_keys(&self) -> Option<ScopedKey> {
        let (_, _, owner) = self.by_keys.last()?;
        oldest(&self.by_owner.get(owner)?.finished)
    }

    /// Returns the oldest finished key with bytes of the owner with the most bytes.
    pub(super) fn oldest_of_most_bytes(&self) -> Option<ScopedKey> {
        let (_, _, owner) = self.by_bytes.last()?;
        oldest(&self.by_owner.get(owner)?.with_bytes)
    }

    fn change(&mut self, id: &OwnerId, change: impl FnOnce(&mut Owner)) {
        let Self { by_owner, by_keys, by_bytes, .. } = self;
        let mut place = match by_owner.entry(*id) {
            Entry::Occupied(place) => place,
            Entry::Vacant(place) => place.insert_entry(Owner::default()),
        };
        let owner = place.get_mut();
        let (keys, bytes) = owner.ranks(id);
        keys.map(|rank| by_keys.remove(&rank));
        bytes.map(|rank| by_bytes.remove(&rank));
        change(owner);
        let (keys, bytes) = owner.ranks(id);
        by_keys.extend(keys);
        by_bytes.extend(bytes);
        if owner.keys == 0 {
            place.remove();
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.by_owner.is_empty() && self.by_keys.is_empty() && self.by_bytes.is_empty()
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.by_owner.values().map(|owner| owner.bytes).sum()
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        self.by_owner.values().map(|owner| owner.keys).sum()
    }
}

impl Index<ScopedKey, Place> for Owners {
    fn add(&mut self, key: &ScopedKey, place: &Place) {
        self.change(key.owner(), |owner| {
            owner.keys += 1;
            let Some(Finished { bytes, number }) = place.finished() else { return };
            owner.bytes += bytes;
            owner.finished.insert((number, *key));
            if bytes > 0 {
                owner.with_bytes.insert((number, *key));
            }
        });
    }

    fn remove(&mut self, key: &ScopedKey, place: &Place) {
        self.change(key.owner(), |owner| {
            owner.keys -= 1;
            let Some(Finished { bytes, number }) = place.finished() else { return };
            owner.bytes -= bytes;
            owner.finished.remove(&(number, *key));
            owner.with_bytes.remove(&(number, *key));
        });
    }
}

impl Owner {
    /// Returns the ranks of the owner by keys and by bytes.
    fn ranks(&self, id: &OwnerId) -> (Option<Rank>, Option<Rank>) {
        let keys = self.finished.first().map(|(number, _)| (self.keys, Reverse(*number), *id));
        let bytes = self.with_bytes.first().map(|(number, _)| (self.bytes, Reverse(*number), *id));
        (keys, bytes)
    }
}

fn oldest(finished: &BTreeSet<(u64, ScopedKey)>) -> Option<ScopedKey> {
    finished.first().map(|(_, key)| *key)
}
