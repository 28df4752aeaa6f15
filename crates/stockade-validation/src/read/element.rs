//! Hot: [`Elements`], what an array contains.

use serde::de::{DeserializeSeed, IgnoredAny, SeqAccess};

use super::judged::{Judged, Reading};
use crate::plan::{ANY, ArrayPlan};

/// The elements of an array, each judged, and then their count.
pub(super) struct Elements<'p, A> {
    plan: Option<&'p ArrayPlan>,
    reading: &'p Reading<'p>,
    count: usize,
    /// The length that the plan takes.
    most: usize,
    ended: bool,
    inner: A,
}

impl<'de, 'p, A: SeqAccess<'de>> Elements<'p, A> {
    pub(super) fn new(
        plan: Option<&'p ArrayPlan>,
        reading: &'p Reading<'p>,
        inner: A,
    ) -> Result<Self, A::Error> {
        // Whether elements are equal is seen when all are there.
        if plan.is_some_and(|plan| plan.unique) {
            return Err(reading.give_up());
        }
        let most = plan.map_or(usize::MAX, |plan| plan.max);
        Ok(Self { plan, reading, count: 0, most, ended: false, inner })
    }

    /// Whatever the type did not ask for must not be there.
    pub(super) fn finish(mut self) -> Result<(), A::Error> {
        if self.ended || self.next_element::<IgnoredAny>()?.is_none() {
            return Ok(());
        }
        Err(self.reading.give_up())
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let plan = self.plan.map_or(&ANY, |plan| plan.at(self.count));
        let seed = Judged::new(plan, self.reading, seed);
        let element = self.inner.next_element_seed(seed)?;
        if element.is_some() {
            self.count += 1;
            // At once: an element may take a hundred times the memory of its text.
            if self.count > self.most {
                return Err(self.reading.give_up());
            }
            return Ok(element);
        }
        self.ended = true;
        if self.plan.is_some_and(|plan| !plan.takes_count(self.count)) {
            return Err(self.reading.give_up());
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}
