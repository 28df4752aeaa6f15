//! A cache of recently used values, bounded by number and size.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A cache that approximately evicts the least recently used value: a value
/// that was used gets a second chance.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    /// The maximum number of values.
    most: usize,
    /// The maximum total size of all values.
    room: usize,
    known: HashMap<K, Known<V>>,
    /// The keys in insertion order.
    order: VecDeque<K>,
    size: usize,
}

#[derive(Debug)]
struct Known<V> {
    value: V,
    size: usize,
    was_asked: bool,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub(crate) fn new(most: usize, room: usize) -> Self {
        Self { most, room, known: HashMap::new(), order: VecDeque::new(), size: 0 }
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let known = self.known.get_mut(key)?;
        known.was_asked = true;
        Some(known.value.clone())
    }

    /// Inserts a value, unless its key is known or it exceeds the total size.
    pub(crate) fn insert(&mut self, key: K, value: V, size: usize) {
        if self.known.contains_key(&key) || size > self.room {
            return;
        }
        while self.known.len() >= self.most || self.size + size > self.room {
            let Some(oldest) = self.order.pop_front() else { return };
            match self.known.get_mut(&oldest) {
                Some(known) if known.was_asked => {
                    known.was_asked = false;
                    self.order.push_back(oldest);
                }
                _ => {
                    let removed = self.known.remove(&oldest);
                    self.size -= removed.map_or(0, |known| known.size);
                }
            }
        }
        self.size += size;
        self.order.push_back(key.clone());
        self.known.insert(key, Known { value, size, was_asked: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<K, V> Recent<K, V> {
        fn sizes(&self) -> (usize, usize, usize) {
            (self.known.len(), self.order.len(), self.size)
        }
    }

    #[test]
    fn evicts_the_least_recently_used_value() {
        let mut recent = Recent::new(2, 100);
        recent.insert('a', 1, 1);
        recent.insert('b', 2, 1);
        assert_eq!(recent.get(&'a'), Some(1));
        recent.insert('c', 3, 1);
        assert_eq!(recent.get(&'b'), None);
        assert_eq!(recent.sizes(), (2, 2, 2));
        // Both were used, so the older one is evicted.
        assert_eq!((recent.get(&'a'), recent.get(&'c')), (Some(1), Some(3)));
        recent.insert('d', 4, 1);
        assert_eq!(recent.sizes(), (2, 2, 2));
        assert_eq!(recent.get(&'d'), Some(4));
    }

    #[test]
    fn total_size_of_values_is_bounded() {
        let mut recent = Recent::new(1_000, 10);
        recent.insert(1, (), 5);
        recent.insert(2, (), 5);
        recent.insert(3, (), 1);
        assert_eq!(recent.sizes(), (2, 2, 6));
        recent.insert(4, (), 11);
        assert_eq!((recent.get(&4), recent.sizes()), (None, (2, 2, 6)));
        // A known key is counted once.
        recent.insert(3, (), 1);
        assert_eq!(recent.sizes(), (2, 2, 6));
    }
}
