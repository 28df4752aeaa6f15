//! [`ExpiringTable`]: a table of entries that expire, with a count of their
//! bytes.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Entries by key and by expiry. The maps, the byte count and the index always
/// agree.
///
/// The owner of the table decides its limits and which entry to evict.
#[derive(Debug)]
pub(crate) struct ExpiringTable<K, V, I = ()> {
    by_key: HashMap<K, V>,
    by_end: BTreeSet<(Instant, K)>,
    bytes: usize,
    index: I,
}

/// An entry of an [`ExpiringTable`].
pub(crate) trait Expires {
    /// Returns the expiry time of the entry.
    fn expires_at(&self) -> Instant;

    /// Returns the bytes that count toward the limit of the table.
    fn bytes(&self) -> usize;
}

/// An additional order of the entries, for example by owner.
pub(crate) trait Index<K, V> {
    /// Adds an entry.
    fn add(&mut self, key: &K, entry: &V);

    /// Removes an entry that was added.
    fn remove(&mut self, key: &K, entry: &V);
}

/// No additional order.
impl<K, V> Index<K, V> for () {
    fn add(&mut self, _: &K, _: &V) {}

    fn remove(&mut self, _: &K, _: &V) {}
}

impl<K, V, I: Default> Default for ExpiringTable<K, V, I> {
    fn default() -> Self {
        Self {
            by_key: HashMap::default(),
            by_end: BTreeSet::default(),
            bytes: 0,
            index: I::default(),
        }
    }
}

impl<K: Copy + Eq + Hash + Ord, V: Expires, I: Index<K, V>> ExpiringTable<K, V, I> {
    /// Returns the number of entries, including expired ones that are still stored.
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Returns the bytes of all entries.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn index(&self) -> &I {
        &self.index
    }

    #[cfg(feature = "idempotency")]
    pub(crate) fn index_mut(&mut self) -> &mut I {
        &mut self.index
    }

    /// Returns an entry, unless it has expired.
    pub(crate) fn live(&self, key: &K, now: Instant) -> Option<&V> {
        self.by_key.get(key).filter(|entry| entry.expires_at() > now)
    }

    /// Inserts an entry, and replaces an existing entry with the same key.
    pub(crate) fn insert(&mut self, key: K, entry: V) {
        self.remove(&key);
        self.bytes += entry.bytes();
        self.by_end.insert((entry.expires_at(), key));
        self.index.add(&key, &entry);
        self.by_key.insert(key, entry);
    }

    /// Removes an entry and returns it.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.by_key.remove(key)?;
        self.by_end.remove(&(entry.expires_at(), *key));
        self.bytes -= entry.bytes();
        self.index.remove(key, &entry);
        Some(entry)
    }

    /// Changes an entry, if it exists.
    #[cfg(feature = "sessions")]
    pub(crate) fn change(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        if let Some(mut entry) = self.remove(key) {
            change(&mut entry);
            self.insert(*key, entry);
        }
    }

    /// Removes at most `count` expired entries.
    pub(crate) fn sweep(&mut self, now: Instant, count: usize) {
        for _ in 0..count {
            match self.by_end.first() {
                Some((ends, key)) if *ends <= now => {
                    let key = *key;
                    self.remove(&key);
                }
                _ => return,
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_consistent(&self) -> bool {
        let ends = self.by_key.iter().map(|(key, entry)| (entry.expires_at(), *key));
        let bytes: usize = self.by_key.values().map(V::bytes).sum();
        bytes == self.bytes && ends.collect::<BTreeSet<_>>() == self.by_end
    }

    #[cfg(test)]
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&K, &V)> {
        self.by_key.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Entry {
        ends: Instant,
        bytes: usize,
    }

    impl Expires for Entry {
        fn expires_at(&self) -> Instant {
            self.ends
        }

        fn bytes(&self) -> usize {
            self.bytes
        }
    }

    #[test]
    fn removes_expired_entries() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut table: ExpiringTable<u64, Entry> = ExpiringTable::default();
        for key in 1..=4 {
            table.insert(key, Entry { ends: after(key), bytes: 10 });
        }
        assert_eq!((table.len(), table.bytes()), (4, 40));
        assert!(table.live(&2, after(1)).is_some() && table.live(&2, after(2)).is_none());
        table.insert(1, Entry { ends: after(9), bytes: 1 });
        table.change(&2, |entry| entry.bytes = 2);
        table.change(&7, |entry| entry.bytes = 2);
        assert_eq!((table.len(), table.bytes()), (4, 23));
        table.sweep(after(4), 1);
        assert!(table.remove(&2).is_none() && table.len() == 3);
        table.sweep(after(4), usize::MAX);
        assert_eq!((table.len(), table.bytes()), (1, 1));
        assert!(table.is_consistent());
    }
}
