//! [`Literals`], an immutable hash table of the text children of all nodes.
//!
//! Hot. The texts come from the program's own routes. An attacker cannot choose
//! them to collide, so a fast hash is enough. A lookup does not allocate.

use super::text::{ODD, SHORT, Text};

/// A map from pairs of a node and a text to child nodes.
#[derive(Debug)]
pub(super) struct Literals {
    /// Open addressing with linear probing. Invariant: the number of slots is a
    /// power of two, at least two, and at least half of them are free, so every
    /// probe ends.
    slots: Box<[Slot]>,
    /// The shift that turns a hash into a slot number, in bits.
    shift: u32,
    /// The texts that do not fit in a slot.
    long: Box<[Box<[u8]>]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    first: u64,
    second: u64,
    /// The parent and the length, see [`key`]; 0 if the slot is free.
    key: u64,
    child: u32,
    /// The index of a long text in `long`.
    long: u32,
}

impl Literals {
    /// Creates the table from parents, texts and children. Pairs of a parent
    /// and a text must be unique.
    pub(super) fn new(texts: &[(u32, &str, u32)]) -> Self {
        let size = (texts.len() * 2).next_power_of_two().max(2);
        let mut slots = vec![Slot::default(); size].into_boxed_slice();
        let shift = u64::BITS - size.trailing_zeros();
        let mut long: Vec<Box<[u8]>> = Vec::new();
        for &(parent, text, child) in texts {
            let read = Text::read(text.as_bytes(), 0);
            let key = key(parent, &read);
            let mut index = slot_of(&read, key, shift);
            while slots[index].key != 0 {
                index = (index + 1) & (size - 1);
            }
            let Text { first, second, .. } = read;
            slots[index] = Slot { first, second, key, child, long: narrow(long.len()) };
            if text.len() > SHORT {
                long.push(text.as_bytes().into());
            }
        }
        Self { slots, shift, long: long.into_boxed_slice() }
    }

    /// Returns the child of `parent` for `text`. `bytes` are the bytes of
    /// `text`.
    #[inline]
    pub(super) fn get(&self, parent: u32, text: &Text, bytes: &[u8]) -> Option<u32> {
        let last = self.slots.len() - 1;
        let key = key(parent, text);
        let mut index = slot_of(text, key, self.shift) & last;
        loop {
            let slot = &self.slots[index];
            // One branch is cheaper than three.
            let difference = slot.first ^ text.first | slot.second ^ text.second | slot.key ^ key;
            if difference == 0 && (text.length <= SHORT || self.is_long(slot, bytes)) {
                return Some(slot.child);
            }
            if slot.key == 0 {
                return None;
            }
            index = (index + 1) & last;
        }
    }

    fn is_long(&self, slot: &Slot, bytes: &[u8]) -> bool {
        *self.long[slot.long as usize] == *bytes
    }
}

/// Packs a parent and a length into a nonzero number. A length has at most 16
/// bits: longer paths never match, and no pattern is that long.
#[inline]
fn key(parent: u32, text: &Text) -> u64 {
    (u64::from(parent) + 1) << 16 | text.length as u64 & 0xFFFF
}

/// Returns the number of the slot for a text. The parent is mixed in last,
/// because the text is read before its parent is known.
#[inline]
fn slot_of(text: &Text, key: u64, shift: u32) -> usize {
    usize::try_from((text.hash ^ key.wrapping_mul(ODD[2])) >> shift).unwrap_or(0)
}

/// Returns the bit that represents a length; some lengths share a bit. A node
/// stores the bits of its texts, so most lookups of other texts end at this
/// check.
#[inline]
pub(super) fn length_bit(length: usize) -> u64 {
    1 << (length % 64)
}

/// Converts an index to 32 bits. Memory runs out before an index exceeds 32
/// bits.
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(table: &Literals, parent: u32, text: &str) -> Option<u32> {
        table.get(parent, &Text::read(text.as_bytes(), 0), text.as_bytes())
    }

    #[test]
    fn finds_only_inserted_texts() {
        for count in [0, 1, 2, 3, 60, 500] {
            let text = |it: u32| "ab-".repeat(it as usize % 14) + &it.to_string();
            let texts: Vec<String> = (0..count).map(text).collect();
            let children: Vec<_> =
                (1..).zip(&texts).map(|(child, text)| (child % 3, text.as_str(), child)).collect();
            let table = Literals::new(&children);
            for &(parent, text, child) in &children {
                assert_eq!(get(&table, parent, text), Some(child), "{text:?}");
                assert_eq!(get(&table, parent + 1, text), None, "{text:?}");
                assert_eq!(get(&table, parent, &format!("{text}x")), None, "{text:?}");
            }
            assert_eq!(get(&table, 0, ""), None);
            assert_eq!(get(&table, 0, &"x".repeat(99)), None);
        }
    }

    #[test]
    fn finds_the_empty_text() {
        let table = Literals::new(&[(0, "", 7)]);
        assert_eq!((get(&table, 0, ""), get(&table, 1, "")), (Some(7), None));
    }

    #[test]
    fn compares_long_texts_in_full() {
        let text = |at: usize| format!("{}x{}", "a".repeat(at), "a".repeat(39 - at));
        let texts: Vec<String> = (0..40).map(text).collect();
        let children: Vec<_> =
            (1..).zip(&texts).map(|(child, text)| (0, text.as_str(), child)).collect();
        let table = Literals::new(&children);
        for (_, text, child) in &children {
            assert_eq!(get(&table, 0, text), Some(*child));
        }
        assert_eq!(get(&table, 0, &"a".repeat(40)), None);
    }

    #[test]
    fn similar_texts_are_well_distributed() {
        let families: [fn(u32) -> (u32, String); 6] = [
            |number| (0, format!("things{number}")),
            |number| (0, format!("{number:08}")),
            |number| (0, format!("{number}-and-the-same-end-of-all")),
            |number| (0, format!("the-same-start-of-all-{number:06}")),
            |number| (number, "x".to_owned()),
            |number| (number / 100, format!("v{}", number % 100)),
        ];
        for family in families {
            let texts: Vec<(u32, String)> = (0..10_000).map(family).collect();
            let children: Vec<_> =
                texts.iter().map(|(parent, text)| (*parent, text.as_str(), 1)).collect();
            let table = Literals::new(&children);
            let runs = table.slots.split(|slot| slot.key == 0).map(<[Slot]>::len);
            let longest = runs.max().unwrap();
            assert!(longest < 40, "{:?}: {longest}", texts[0]);
        }
    }
}
