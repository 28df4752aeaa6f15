//! [`Spans`]: the positions of matched parameters in a path.
//!
//! Hot path: up to eight ranges are stored inline; more ranges allocate.

use std::fmt;

/// Byte ranges in a path, each a start and an end.
///
/// A path is shorter than 64 KiB, so 16 bits are enough.
#[derive(Clone, Default)]
pub struct Spans {
    inline: [(u16, u16); INLINE],
    /// The number of `inline` ranges in use. Invariant: all are in use if
    /// `more` is not empty.
    used: usize,
    more: Vec<(u16, u16)>,
}

impl Spans {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the range from byte `start` to byte `end`, exclusive.
    #[inline]
    pub fn push(&mut self, start: u16, end: u16) {
        match self.inline.get_mut(self.used) {
            Some(free) => {
                *free = (start, end);
                self.used += 1;
            }
            None => self.push_more(start, end),
        }
    }

    #[cold]
    fn push_more(&mut self, start: u16, end: u16) {
        self.more.push((start, end));
    }

    /// Removes all but the first `len` ranges.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.more.truncate(len.saturating_sub(INLINE));
        self.used = self.used.min(len);
    }

    /// Returns the number of ranges.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.used + self.more.len()
    }

    /// Returns true if there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns the range at `index`, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(u16, u16)> {
        match index.checked_sub(INLINE) {
            None => self.inline[..self.used].get(index).copied(),
            Some(index) => self.more.get(index).copied(),
        }
    }

    /// Returns the ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.inline[..self.used].iter().chain(&self.more).copied()
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Enough for nearly every route.
const INLINE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(count: u16) -> (Spans, Vec<(u16, u16)>) {
        let expected: Vec<_> = (0..count).map(|at| (at, at + 1)).collect();
        let mut spans = Spans::new();
        expected.iter().for_each(|(start, end)| spans.push(*start, *end));
        (spans, expected)
    }

    #[track_caller]
    fn check(spans: &Spans, expected: &[(u16, u16)]) {
        assert_eq!(spans.iter().collect::<Vec<_>>(), expected);
        assert_eq!(spans.len(), expected.len());
        assert_eq!(spans.is_empty(), expected.is_empty());
        for index in 0..20 {
            assert_eq!(spans.get(index), expected.get(index).copied(), "{index}");
        }
        assert_eq!(format!("{spans:?}"), format!("{expected:?}"));
    }

    #[test]
    fn push_and_truncate_work_for_any_count() {
        for count in [0, 1, 7, 8, 9, 17] {
            for kept in [0, 1, 7, 8, 9, 16, 17, 18] {
                let (mut spans, mut expected) = spans(count);
                check(&spans, &expected);
                spans.truncate(kept);
                expected.truncate(kept);
                check(&spans, &expected);
                spans.push(3, 9);
                expected.push((3, 9));
                check(&spans, &expected);
            }
        }
    }
}
