//! `Random`: reproducible random numbers for tests.

/// Random numbers that depend only on the seed. Do not use them for secrets.
///
/// Tests record the seeds of past failures, so the numbers for a seed must
/// never change.
///
/// Source: Marsaglia, "Xorshift RNGs", with 64 bits and the shifts 13, 7 and
/// 17.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Small seeds would start with similar numbers if they were not mixed.
        // The state must not be 0, because 0 never changes.
        Self((seed ^ 0x2545_f491_4f6c_dd1d).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns 64 random bits, which are never all 0.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end.max(1)
    }

    /// Returns an index into `len` items, or 0 if there are none.
    pub fn index(&mut self, len: usize) -> usize {
        let end = u64::try_from(len).unwrap_or(u64::MAX);
        usize::try_from(self.below(end)).unwrap_or_default()
    }

    /// Returns true once in `count` calls on average.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns one of the items.
    ///
    /// # Panics
    /// Panics if `items` is empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        let first = |seed| {
            let mut random = Random::new(seed);
            [random.below(1_000), random.below(1_000), random.below(1_000)]
        };
        assert_eq!(first(1), [587, 165, 949]);
        assert_eq!(first(7), [733, 952, 307]);
        assert_eq!(first(4_711), [1, 626, 572]);
    }
}
