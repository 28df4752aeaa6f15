//! A table of keys with a cap, one shard of a [`MemoryRateStore`].
//!
//! Hot: a known key costs one probe, usually of one cache line, and no
//! allocation. A new key also visits a few successive slots and clears dead
//! keys in them, so there is never a pause for sweeping.
//!
//! The table uses open addressing with linear probing and backward shifts. A
//! `HashMap` could only be swept as a whole, under its lock.
//!
//! [`MemoryRateStore`]: super::MemoryRateStore

use super::algorithm::State;

/// A digest of a key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Digest {
    /// A keyed hash, which determines the slot of the key. Invariant: not 0.
    pub(super) hash: u64,
    /// An address, or a second keyed hash of a text.
    pub(super) rest: u64,
}

/// A slot of 32 bytes: two fill a cache line, and no slot crosses one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Slot {
    /// The hash is 0 in an empty slot.
    digest: Digest,
    state: State,
}

/// At most `max` keys with their states.
#[derive(Debug)]
pub(super) struct Table {
    /// Invariant: at least one slot is empty. At most three quarters are
    /// filled.
    slots: Vec<Slot>,
    len: usize,
    max: usize,
    /// The slot at which the sweep continues.
    hand: usize,
}

impl Table {
    pub(super) fn new(max: usize) -> Self {
        let mut table = Self { slots: Vec::new(), len: 0, max, hand: 0 };
        table.slots = vec![Slot::default(); table.size_for(0)];
        table
    }

    /// Returns the number of keys, including dead ones.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the state of a key, and adds a new key. Returns `None` for a new
    /// key at the cap.
    #[inline]
    pub(super) fn state(&mut self, digest: Digest, now: u64) -> Option<&mut State> {
        let mut at = probe(&self.slots, digest);
        if self.slots[at].digest != digest {
            at = self.insert(digest, now)?;
        }
        Some(&mut self.slots[at].state)
    }

    /// Adds a new key and returns its slot, or returns `None` at the cap.
    #[cold]
    fn insert(&mut self, digest: Digest, now: u64) -> Option<usize> {
        if !self.make_room(now) {
            return None;
        }
        let at = probe(&self.slots, digest);
        self.slots[at] = Slot { digest, state: State::default() };
        self.len += 1;
        Some(at)
    }

    /// Sweeps a few slots. Returns true if there is room for one more key.
    fn make_room(&mut self, now: u64) -> bool {
        let at_cap = self.len >= self.max;
        self.sweep(if at_cap { VISITS_AT_CAP } else { VISITS }, now);
        if self.len >= self.max {
            return false;
        }
        if is_crowded(self.len + 1, self.slots.len()) || is_sparse(self.len, self.slots.len()) {
            self.rebuild(now);
        }
        true
    }

    /// Clears the dead keys in the next `visits` slots.
    fn sweep(&mut self, visits: usize, now: u64) {
        for _ in 0..visits.min(self.slots.len()) {
            let slot = self.slots[self.hand];
            if slot.digest.hash != 0 && slot.state.dead_at <= now {
                // Another key may have moved here, so the hand does not
                // advance.
                self.clear(self.hand);
            } else {
                self.hand = next(self.hand, self.slots.len());
            }
        }
    }

    /// Empties a slot and closes the gap, so that every key is still found.
    fn clear(&mut self, at: usize) {
        let size = self.slots.len();
        let distance =
            |from: usize, to: usize| if to >= from { to - from } else { to + size - from };
        let (mut gap, mut at) = (at, next(at, size));
        while self.slots[at].digest.hash != 0 {
            // A key may move back, but not before its home.
            let home = home(self.slots[at].digest.hash, size);
            if distance(home, at) >= distance(gap, at) {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = next(at, size);
        }
        self.slots[gap] = Slot::default();
        self.len -= 1;
    }

    /// Moves the live keys to a table of a suitable size.
    fn rebuild(&mut self, now: u64) {
        let is_live = |slot: &&Slot| slot.digest.hash != 0 && slot.state.dead_at > now;
        let live = self.slots.iter().filter(is_live).count();
        let mut slots = vec![Slot::default(); self.size_for(live)];
        for slot in self.slots.iter().filter(is_live) {
            let at = probe(&slots, slot.digest);
            slots[at] = *slot;
        }
        self.slots = slots;
        self.len = live;
        self.hand = 0;
    }

    /// Returns the size of a table for this number of keys: three eighths are
    /// filled, three quarters at the cap.
    fn size_for(&self, keys: usize) -> usize {
        let full = self.max.saturating_mul(4).div_ceil(3).saturating_add(1);
        let roomy = keys.saturating_mul(8).div_ceil(3);
        roomy.max(MIN_SLOTS).min(full.max(MIN_SLOTS))
    }
}

/// Returns true if a table of `size` slots is too small for this number of
/// keys.
fn is_crowded(keys: usize, size: usize) -> bool {
    keys.saturating_mul(4) > size.saturating_mul(3)
}

/// Returns true if a table of `size` slots is too large for this number of
/// keys. If only new keys arrive, an eighth of the slots contains dead keys
/// that are not yet swept; a rebuilt table is three eighths full.
fn is_sparse(keys: usize, size: usize) -> bool {
    size > MIN_SLOTS && keys.saturating_mul(4) < size
}

/// Returns the slot of a key, or the empty slot for it.
#[inline]
fn probe(slots: &[Slot], digest: Digest) -> usize {
    let mut at = home(digest.hash, slots.len());
    while slots[at].digest != digest && slots[at].digest.hash != 0 {
        at = next(at, slots.len());
    }
    at
}

/// Returns the first slot of the search for a hash, in proportion to the hash.
fn home(hash: u64, size: usize) -> usize {
    let share = (u128::from(hash) * (size as u128)) >> 64;
    // The result is below `size`, so it fits.
    usize::try_from(share).unwrap_or_default()
}

fn next(at: usize, size: usize) -> usize {
    if at + 1 == size { 0 } else { at + 1 }
}

/// The number of slots that a new key visits. The whole table is visited once
/// new keys have arrived for an eighth of its slots.
const VISITS: usize = 8;
/// The number of slots that a new key visits at the cap: 8 KiB, read
/// sequentially.
const VISITS_AT_CAP: usize = 256;
const MIN_SLOTS: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn digest(hash: u64) -> Digest {
        Digest { hash, rest: 0 }
    }

    #[test]
    fn the_cap_holds_and_expired_keys_make_room() {
        let mut table = Table::new(100);
        for hash in 1..=100 {
            table.state(digest(hash << 57 | hash), 0).unwrap().dead_at = 10;
        }
        assert!(table.state(digest(1_000), 9).is_none());
        assert!(table.state(digest(5 << 57 | 5), 9).is_some());
        assert!(table.state(digest(1_000), 10).is_some());
        assert!(table.len() <= 100);
    }

    #[test]
    fn a_cap_of_one_is_one_key() {
        let mut table = Table::new(1);
        table.state(digest(1), 0).unwrap().dead_at = 10;
        assert!(table.state(digest(2), 5).is_none());
        assert!(table.state(digest(2), 10).is_some());
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_rebuilt_table_shrinks_to_its_live_keys() {
        let mut table = Table::new(1_000_000);
        for hash in 1..=10_000_u64 {
            table.state(digest(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 0).unwrap().dead_at = 10;
        }
        let big = table.slots.len();
        for hash in 10_001..=40_000_u64 {
            let state = table.state(digest(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)), hash);
            state.unwrap().dead_at = hash + 10;
        }
        assert!(table.slots.len() <= big, "{} slots", table.slots.len());
    }

    #[test]
    fn a_table_shrinks_when_few_keys_are_left() {
        let mut table = Table::new(100_000);
        let spread = |number: u64| digest(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for number in 1..=10_000 {
            table.state(spread(number), 0).unwrap().dead_at = 10;
        }
        let big = table.slots.len();
        // New keys clear dead keys, eight slots each.
        for number in 10_001..=20_000 {
            table.state(spread(number), number).unwrap().dead_at = number + 10;
        }
        assert!(table.slots.len() * 16 < big, "{} of {big} slots", table.slots.len());
        assert!(table.state(spread(20_000), 20_000).unwrap().dead_at > 20_000);
    }

    proptest! {
        // Hashes that cluster at both ends make long runs, including runs
        // across the end.
        #[test]
        fn behaves_like_a_map_without_expired_keys(
            steps in proptest::collection::vec((1_u64..40, any::<bool>(), 0_u64..3, 1_u64..12), 0..400),
            max in 1_usize..30,
        ) {
            let mut table = Table::new(max);
            let mut model = HashMap::<u64, State>::new();
            let mut now = 0;
            for (number, high, passed, life) in steps {
                now += passed;
                let hash = if high { u64::MAX - number } else { number };
                let alive = model.get(&hash).copied().filter(|state| state.dead_at > now);
                if let Some(state) = table.state(digest(hash), now) {
                        if let Some(expected) = alive {
                            prop_assert_eq!(*state, expected);
                        } else {
                            prop_assert!(state.dead_at <= now);
                        }
                        *state = State { dead_at: now + life, current: 1, previous: 0 };
                        model.insert(hash, *state);
                    }
                    else {
                        // All tables in this test are visited completely.
                        let living = model.values().filter(|state| state.dead_at > now).count();
                        prop_assert!(alive.is_none() && living >= max);
                    }
                prop_assert!(table.len() <= max);
            }
        }
    }
}
