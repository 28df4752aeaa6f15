//! Hot: what the plan of the schema says of values on their way into a type.
//!
//! Here alone the reading of values asks the [`Plan`].
//!
//! A type may go on after an error, with a default in the place of the value,
//! or not look at it at all. So the values are counted: a reading with a value
//! that was not found right leads to nothing.

use serde_json::Value;

use super::source::Wide;
use crate::json::{Number, Refused};
use crate::number::{Num, may_be_exact};
use crate::options::ValidationOptions;
use crate::plan::{ANY, Accept, ArrayPlan, ObjectPlan, Plan, Unknown};

/// Judges the values of one reading.
pub(super) struct Judging<'p> {
    /// Of the value that comes next.
    plan: &'p Plan,
    options: &'p ValidationOptions,
    /// The number of values that are begun and not found right.
    open: usize,
}

impl<'p> Judging<'p> {
    /// With the whole as its first value.
    pub(super) fn new(plan: &'p Plan, options: &'p ValidationOptions) -> Self {
        Self { plan, options, open: 1 }
    }

    /// Goes to another value.
    #[inline]
    fn begin(&mut self, plan: &'p Plan) {
        self.plan = plan;
        self.open = self.open.wrapping_add(1);
    }

    /// Notes that what the schema says of a value is fulfilled.
    #[inline]
    pub(super) fn fulfil(&mut self) {
        self.open = self.open.wrapping_sub(1);
    }

    /// Notes that this way does not lead to a value; another one may.
    #[cold]
    pub(super) fn give_up(&mut self) -> Refused {
        self.open = self.open.wrapping_add(1);
        Refused::Data
    }

    /// Returns true if all values are right.
    pub(super) fn is_fulfilled(&self) -> bool {
        self.open == 0
    }

    #[inline]
    fn fulfil_if(&mut self, takes: bool) -> Result<(), Refused> {
        if !takes {
            return Err(self.give_up());
        }
        self.fulfil();
        Ok(())
    }

    /// The text as it goes on.
    #[inline]
    pub(super) fn text<'t>(&mut self, text: &'t str) -> Result<&'t str, Refused> {
        match self.plan.text(text) {
            Some(text) => {
                self.fulfil();
                Ok(text)
            }
            None => Err(self.give_up()),
        }
    }

    #[inline]
    pub(super) fn boolean(&mut self, flag: bool) -> Result<bool, Refused> {
        self.fulfil_if(self.plan.takes_bool(flag)).map(|()| flag)
    }

    #[inline]
    pub(super) fn null(&mut self) -> Result<(), Refused> {
        self.fulfil_if(self.plan.null)
    }

    /// The number as it goes on: a whole float may become an integer.
    #[inline]
    pub(super) fn number(&mut self, number: Number) -> Result<Number, Refused> {
        let takes = match number {
            Number::Whole(whole) => self.plan.takes_whole(whole.into()),
            Number::Negative(whole) => self.plan.takes_whole(whole.into()),
            Number::Float(float) => return self.float(float),
        };
        self.fulfil_if(takes).map(|()| number)
    }

    /// The integer of up to 128 bits as it goes on.
    pub(super) fn wide(&mut self, wide: Wide) -> Result<Wide, Refused> {
        let whole = match wide {
            Wide::Number(number) => return self.number(number).map(Wide::Number),
            Wide::Signed(whole) => Some(whole),
            Wide::Unsigned(whole) => i128::try_from(whole).ok(),
        };
        // What is beyond has no place in a plan.
        self.fulfil_if(whole.is_some_and(|whole| self.plan.takes_whole(whole)))?;
        Ok(wide)
    }

    fn float(&mut self, float: f64) -> Result<Number, Refused> {
        self.fulfil_if(float.is_finite() && self.plan.takes_number(|| Num::of_float(float)))?;
        if self.plan.wants_whole()
            && may_be_exact(float)
            && let Num::Whole(whole) = Num::of_float(float)
        {
            if let Ok(whole) = u64::try_from(whole) {
                return Ok(Number::Whole(whole));
            }
            if let Ok(whole) = i64::try_from(whole) {
                return Ok(Number::Negative(whole));
            }
        }
        Ok(Number::Float(float))
    }

    /// Begins an array.
    #[inline]
    pub(super) fn array(&mut self) -> Result<Elements<'p>, Refused> {
        let plan = match &self.plan.array {
            Accept::All => None,
            // Whether elements are equal is seen when all are there.
            Accept::If(plan) if !plan.unique => Some(&**plan),
            Accept::If(_) | Accept::None => return Err(self.give_up()),
        };
        let most = plan.map_or(usize::MAX, |plan| plan.max);
        Ok(Elements { plan, count: 0, most, ended: false })
    }

    /// Begins an object; `named` if the order of its members has no meaning.
    #[inline]
    pub(super) fn object(&mut self, named: bool) -> Result<Members<'p>, Refused> {
        let plan = match &self.plan.object {
            Accept::All => None,
            Accept::If(plan) => Some(&**plan),
            Accept::None => return Err(self.give_up()),
        };
        Ok(Members {
            plan,
            named,
            hint: 0,
            seen: 0,
            count: 0,
            mixed: false,
            has_unknown: false,
            has_unlisted: false,
            whole: false,
            ended: false,
            default: None,
        })
    }
}

/// The elements of an array, each judged, and then their count.
#[derive(Debug)]
pub(crate) struct Elements<'p> {
    plan: Option<&'p ArrayPlan>,
    count: usize,
    /// The length that the plan takes.
    most: usize,
    ended: bool,
}

impl<'p> Elements<'p> {
    /// Returns true if no element was begun.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Begins an element.
    #[inline]
    pub(super) fn next(&mut self, judging: &mut Judging<'p>) -> Result<(), Refused> {
        // At once: an element may take a hundred times the memory of its text.
        if self.count >= self.most {
            return Err(judging.give_up());
        }
        judging.begin(self.plan.map_or(&ANY, |plan| plan.at(self.count)));
        self.count += 1;
        Ok(())
    }

    /// Judges the array as a whole, when its last element has come.
    #[inline]
    pub(super) fn end(&mut self, judging: &mut Judging<'p>) -> Result<(), Refused> {
        self.ended = true;
        if self.plan.is_some_and(|plan| !plan.takes_count(self.count)) {
            return Err(judging.give_up());
        }
        Ok(())
    }
}

/// The members of an object, each judged by its name; then the names that must
/// be there, the counts, and the defaults of those that are not.
#[derive(Debug)]
pub(crate) struct Members<'p> {
    plan: Option<&'p ObjectPlan>,
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
    /// All that came is judged; only defaults are left.
    whole: bool,
    ended: bool,
    /// The value of the last name, if that was not there.
    pub(super) default: Option<&'p Value>,
}

impl<'p> Members<'p> {
    /// Returns true if no name has come.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns true if all names that came were judged.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Begins the member of this name; false if the type shall not see it.
    #[inline]
    pub(super) fn next(&mut self, name: &str, judging: &mut Judging<'p>) -> Result<bool, Refused> {
        if is_private(name) {
            return Err(judging.give_up());
        }
        self.count += 1;
        let Some(plan) = self.plan else {
            judging.begin(&ANY);
            return Ok(true);
        };
        let index = plan.find(name, self.hint);
        self.seen |= index.map_or(0, |index| 1 << index);
        if let Some(index) = index.filter(|index| *index < plan.listed) {
            self.mixed |= index < self.hint || self.has_unlisted;
            self.hint = index + 1;
            judging.begin(&plan.entries[index].plan);
            return Ok(true);
        }
        match plan.unknown(judging.options) {
            Unknown::Keep => judging.begin(&ANY),
            Unknown::Judge(plan) => judging.begin(plan),
            Unknown::Refuse => return Err(judging.give_up()),
            Unknown::Strip => {
                judging.begin(&ANY);
                return Ok(false);
            }
        }
        self.has_unlisted = true;
        // A name that is only required is counted by its bit.
        self.has_unknown |= index.is_none();
        Ok(true)
    }

    /// Judges the object as a whole, when its last member has come.
    pub(super) fn end(&mut self, judging: &mut Judging<'p>) -> Result<(), Refused> {
        self.whole = true;
        let Some(plan) = self.plan else {
            return Ok(());
        };
        // A name may have come twice, so this is the least that is there.
        let least = self.seen.count_ones() as usize + usize::from(self.has_unknown);
        let fits = plan.required & !self.seen == 0
            && (plan.min == 0 || least >= plan.min)
            && self.count <= plan.max
            && (self.named || !self.mixed);
        if fits { Ok(()) } else { Err(judging.give_up()) }
    }

    /// The name of the next default of a member that is not there, after all
    /// that came.
    #[inline]
    pub(super) fn next_default(
        &mut self,
        judging: &mut Judging<'p>,
    ) -> Result<Option<&'p str>, Refused> {
        let absent = self.plan.map_or(0, |plan| plan.defaulted & !self.seen);
        let Some(plan) = self.plan.filter(|_| absent != 0) else {
            self.ended = true;
            return Ok(None);
        };
        let entry = &plan.entries[absent.trailing_zeros() as usize];
        // A default is not the last member, where that has a meaning.
        self.default = entry.default.as_ref().filter(|_| self.named);
        if self.default.is_none() {
            return Err(judging.give_up());
        }
        self.seen |= absent & absent.wrapping_neg();
        Ok(Some(&entry.name))
    }
}

/// Returns true if a name is one by which serde_json passes on what is no
/// object: a number with all its digits (its feature `arbitrary_precision`,
/// which any crate may turn on), or text that nobody looked at (`raw_value`).
pub(crate) fn is_private(name: &str) -> bool {
    name.starts_with("$serde_json::private::")
}
