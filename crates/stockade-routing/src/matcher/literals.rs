//! Hot: [`Literals`], a hash table of texts that never changes once it is built.
//!
//! The texts are those of the program's own routes, so nobody can choose them
//! such that they collide, and a fast hash is enough. A lookup allocates
//! nothing.

/// Texts, and a number for each.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// Open addressing with linear probing. Invariant: none, or a power of two
    /// of slots, at least half of them free, so that every probe ends.
    slots: Box<[Slot]>,
    /// One bit for each length of a text, the highest for all lengths above.
    lengths: u64,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    hash: u64,
    /// The text and its number.
    entry: Option<(Box<[u8]>, usize)>,
}

impl Literals {
    /// The table of these texts, which must differ.
    pub(super) fn new(texts: impl ExactSizeIterator<Item = (String, usize)>) -> Self {
        if texts.len() == 0 {
            return Self::default();
        }
        let size = (texts.len() * 2).next_power_of_two();
        let mut table = Self { slots: vec![Slot::default(); size].into_boxed_slice(), lengths: 0 };
        for (text, number) in texts {
            let hash = hash(text.as_bytes());
            let mut index = table.first_slot(hash);
            while table.slots[index].entry.is_some() {
                index = table.next_slot(index);
            }
            table.lengths |= length_bit(text.len());
            let entry = Some((text.into_bytes().into_boxed_slice(), number));
            table.slots[index] = Slot { hash, entry };
        }
        table
    }

    /// The number of `text`.
    #[inline]
    pub(super) fn get(&self, text: &[u8]) -> Option<usize> {
        // Most misses end here, without a hash; so does the empty table.
        if self.lengths & length_bit(text.len()) == 0 {
            return None;
        }
        let hash = hash(text);
        let mut index = self.first_slot(hash);
        loop {
            let slot = &self.slots[index];
            // A free slot ends the probe.
            let (known, number) = slot.entry.as_ref()?;
            if slot.hash == hash && is_same(known, text) {
                return Some(*number);
            }
            index = self.next_slot(index);
        }
    }

    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        // On 32 bits the lower half of the hash is as good.
        usize::try_from(hash & 0xFFFF_FFFF).unwrap_or(0) & (self.slots.len() - 1)
    }

    #[inline]
    fn next_slot(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }
}

/// An empty box is not compared with, for the reason given in `segment`.
#[inline]
fn is_same(known: &[u8], text: &[u8]) -> bool {
    known.len() == text.len() && (known.is_empty() || known == text)
}

#[inline]
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Eight bytes at a time; the last eight may overlap those before.
#[inline]
fn hash(text: &[u8]) -> u64 {
    let mut state = mix(text.len() as u64 ^ SEED);
    let mut rest = text;
    while let (Some(chunk), true) = (rest.first_chunk::<8>(), rest.len() > 8) {
        state = mix(state ^ u64::from_le_bytes(*chunk));
        rest = &rest[8..];
    }
    let last = match (text.last_chunk::<8>(), text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(last), _, _) => u64::from_le_bytes(*last),
        (None, Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    mix(state ^ last)
}

#[inline]
fn mix(word: u64) -> u64 {
    let product = word.wrapping_mul(SEED);
    product ^ (product >> 32)
}

/// Odd, with its bits spread: 2^64 divided by the golden ratio.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_number_and_others_have_none() {
        for count in [0, 1, 2, 3, 60, 500] {
            let texts: Vec<String> =
                (0..count).map(|it| "ab/".repeat(it % 40) + &it.to_string()).collect();
            let numbered = texts.iter().enumerate().map(|(number, text)| (text.clone(), number));
            let table = Literals::new(numbered);
            for (number, text) in texts.iter().enumerate() {
                assert_eq!(table.get(text.as_bytes()), Some(number), "{text:?}");
                assert_eq!(table.get(format!("{text}x").as_bytes()), None, "{text:?}");
            }
            assert_eq!(table.get(b""), None);
            assert_eq!(table.get("x".repeat(99).as_bytes()), None);
        }
    }

    #[test]
    fn the_empty_text_is_a_text() {
        assert_eq!(Literals::new([(String::new(), 7)].into_iter()).get(b""), Some(7));
    }
}
