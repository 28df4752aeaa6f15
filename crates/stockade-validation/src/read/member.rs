//! Hot: [`Members`], what an object contains.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::judged::{Judged, Reading, is_private};
use crate::plan::{ANY, ObjectPlan, Plan, Unknown};

/// The members of an object, each judged by its name; then the names that must
/// be there, the counts, and the defaults of those that are not.
pub(super) struct Members<'p, A> {
    plan: Option<&'p ObjectPlan>,
    reading: &'p Reading<'p>,
    /// The order of the members has no meaning for the type.
    named: bool,
    /// Where the next listed name is expected.
    hint: usize,
    /// A bit for each name of the plan.
    seen: u64,
    count: usize,
    /// The names come in another order than that of the output.
    mixed: bool,
    /// A name that has no bit in `seen`.
    has_unknown: bool,
    /// A name that is not listed, be it required or not: a listed one may not
    /// follow it in the output.
    has_unlisted: bool,
    next: Next<'p>,
    /// All that came is judged; only defaults are left.
    whole: bool,
    ended: bool,
    inner: A,
}

/// What the value of the last name is.
#[derive(Clone, Copy)]
enum Next<'p> {
    Judged(&'p Plan),
    Default(&'p Value),
}

impl<'de, 'p, A: MapAccess<'de>> Members<'p, A> {
    pub(super) fn new(
        plan: Option<&'p ObjectPlan>,
        reading: &'p Reading<'p>,
        named: bool,
        inner: A,
    ) -> Self {
        Self {
            plan,
            reading,
            named,
            hint: 0,
            seen: 0,
            count: 0,
            mixed: false,
            has_unknown: false,
            has_unlisted: false,
            next: Next::Judged(&ANY),
            whole: false,
            ended: false,
            inner,
        }
    }

    /// Whatever the type did not ask for must not be there.
    pub(super) fn finish(mut self) -> Result<(), A::Error> {
        if self.ended || self.next_key::<IgnoredAny>()?.is_none() {
            return Ok(());
        }
        Err(self.reading.give_up())
    }

    /// Reads names until there is one for the type.
    #[inline]
    fn name(&mut self, plan: &'p ObjectPlan) -> Result<Option<Cow<'de, str>>, A::Error> {
        while let Some(name) = self.inner.next_key_seed(Name)? {
            if is_private(&name) {
                return Err(self.reading.give_up());
            }
            self.count += 1;
            let index = plan.find(&name, self.hint);
            self.seen |= index.map_or(0, |index| 1 << index);
            if let Some(index) = index.filter(|index| *index < plan.listed) {
                self.mixed |= index < self.hint || self.has_unlisted;
                self.hint = index + 1;
                self.next = Next::Judged(&plan.entries[index].plan);
                return Ok(Some(name));
            }
            match plan.unknown(self.reading.options) {
                Unknown::Keep => self.next = Next::Judged(&ANY),
                Unknown::Judge(plan) => self.next = Next::Judged(plan),
                Unknown::Refuse => return Err(self.reading.give_up()),
                Unknown::Strip => {
                    let skipped = PhantomData::<IgnoredAny>;
                    self.inner.next_value_seed(Judged::new(&ANY, self.reading, skipped))?;
                    continue;
                }
            }
            self.has_unlisted = true;
            // A name that is only required is counted by its bit.
            self.has_unknown |= index.is_none();
            return Ok(Some(name));
        }
        Ok(None)
    }

    /// The next default of a member that is not there.
    fn default(&mut self, plan: &'p ObjectPlan) -> Result<Option<&'p str>, A::Error> {
        let absent = plan.defaulted & !self.seen;
        if absent == 0 {
            return Ok(None);
        }
        let entry = &plan.entries[absent.trailing_zeros() as usize];
        // A default is not the last member, where that has a meaning.
        let Some(default) = entry.default.as_ref().filter(|_| self.named) else {
            return Err(self.reading.give_up());
        };
        self.seen |= absent & absent.wrapping_neg();
        self.next = Next::Default(default);
        Ok(Some(&entry.name))
    }

    /// Judges the object as a whole, when its last member has come.
    fn end(&mut self, plan: &ObjectPlan) -> Result<(), A::Error> {
        // A name may have come twice, so this is the least that is there.
        let least = self.seen.count_ones() as usize + usize::from(self.has_unknown);
        let fits = plan.required & !self.seen == 0
            && (plan.min == 0 || least >= plan.min)
            && self.count <= plan.max
            && (self.named || !self.mixed);
        if fits { Ok(()) } else { Err(self.reading.give_up()) }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let Some(plan) = self.plan else {
            let key = self.inner.next_key_seed(Judged::of_name(self.reading, seed))?;
            self.ended = key.is_none();
            return Ok(key);
        };
        if !self.whole {
            match self.name(plan)? {
                Some(Cow::Borrowed(name)) => {
                    return seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some);
                }
                Some(Cow::Owned(name)) => {
                    return seed.deserialize(StrDeserializer::new(&name)).map(Some);
                }
                None => {
                    self.end(plan)?;
                    self.whole = true;
                }
            }
        }
        if let Some(name) = self.default(plan)? {
            return seed.deserialize(StrDeserializer::new(name)).map(Some);
        }
        self.ended = true;
        Ok(None)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.next {
            Next::Judged(plan) => self.inner.next_value_seed(Judged::new(plan, self.reading, seed)),
            // Its own copy, as the type may keep it.
            Next::Default(value) => {
                seed.deserialize(value.clone()).map_err(|_| self.reading.give_up())
            }
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// Reads a name, borrowed from the text if it has no escapes.
pub(super) struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
        inner.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_string<E: Error>(self, name: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name))
    }
}
