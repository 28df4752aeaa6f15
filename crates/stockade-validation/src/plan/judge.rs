//! Hot: the questions of one value, each answered without an allocation.

use super::compile::order;
use super::tree::{Accept, Additional, ArrayPlan, NumberPlan, ObjectPlan, Plan, TextPlan};
use crate::data::{Data, Kind};
use crate::number::{Num, whole_float};
use crate::options::ValidationOptions;

impl Plan {
    /// The text as it goes on, which is without white space at its ends where
    /// that is removed; `None` if it is not accepted.
    #[inline]
    pub(crate) fn text<'t>(&self, text: &'t str) -> Option<&'t str> {
        match &self.text {
            Accept::All => Some(text),
            Accept::If(plan) => plan.accept(text),
            Accept::None => None,
        }
    }

    #[inline]
    pub(crate) fn takes_whole(&self, whole: i128) -> bool {
        match &self.number {
            Accept::All => true,
            Accept::If(plan) => plan.takes(Num::Whole(whole)),
            Accept::None => false,
        }
    }

    #[inline]
    pub(crate) fn takes_number(&self, num: impl FnOnce() -> Num) -> bool {
        match &self.number {
            Accept::All => true,
            Accept::If(plan) => plan.takes(num()),
            Accept::None => false,
        }
    }

    /// Whether a whole float goes on as an integer.
    #[inline]
    pub(crate) fn wants_whole(&self) -> bool {
        matches!(&self.number, Accept::If(plan) if plan.integer)
    }

    /// Whether a scalar is accepted and stays as it is.
    #[inline]
    pub(crate) fn takes_scalar(&self, scalar: Kind<'_>) -> bool {
        match scalar {
            Kind::Null => self.null,
            Kind::Bool(flag) => self.takes_bool(flag),
            Kind::Number(number) => {
                self.takes_number(|| Num::of(number))
                    && !(self.wants_whole() && whole_float(number).is_some())
            }
            Kind::Text(text) => self.text(text).is_some_and(|kept| kept.len() == text.len()),
            Kind::Array(_) | Kind::Object(_) => false,
        }
    }

    /// Whether a value that contains scalars alone, or is one, is accepted and
    /// stays as it is. So much may be said of others too.
    #[inline]
    pub(crate) fn takes_flat<'d>(&self, value: impl Data<'d>, options: &ValidationOptions) -> bool {
        match value.kind() {
            Kind::Array(_) | Kind::Object(_) => self.takes_container(value, options),
            scalar => self.takes_scalar(scalar),
        }
    }

    /// Apart, so that a scalar costs no call.
    #[inline(never)]
    fn takes_container<'d>(&self, value: impl Data<'d>, options: &ValidationOptions) -> bool {
        match (value.kind(), &self.array, &self.object) {
            (Kind::Array(_), Accept::All, _) | (Kind::Object(_), _, Accept::All) => true,
            (Kind::Array(count), Accept::If(plan), _) => plan.takes_scalars(value, count),
            (Kind::Object(count), _, Accept::If(plan)) => plan.takes_scalars(value, count, options),
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn takes_bool(&self, flag: bool) -> bool {
        if flag { self.yes } else { self.no }
    }
}

impl TextPlan {
    fn accept<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = if self.trim { text.trim() } else { text };
        let takes = fits_length(text, self.min, self.max)
            && self.only.as_deref().is_none_or(|only| lists_text(only, text))
            && (self.forms.is_empty() || self.forms.iter().any(|form| form.check(text)))
            && self.format.is_none_or(|format| format.check(text))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        takes.then_some(text)
    }
}

/// Whether the count of code points lies in these limits. They are counted
/// only if the bytes, one to four for each, do not tell.
fn fits_length(text: &str, min: usize, max: usize) -> bool {
    let bytes = text.len();
    if bytes < min {
        return false;
    }
    if bytes <= max && bytes / 4 >= min {
        return true;
    }
    // Each code point beyond ASCII has a byte that is not ASCII.
    bytes <= max && text.is_ascii() || (min..=max).contains(&text.chars().count())
}

/// Whether two names are the same, most of which have 16 bytes or fewer: their
/// ends are compared, which may overlap, without the call of a function.
#[inline]
pub(crate) fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left.len() == right.len()
        && match left.len() {
            0 => true,
            1 => left[0] == right[0],
            2..=3 => same_ends::<2>(left, right),
            4..=7 => same_ends::<4>(left, right),
            8..=16 => same_ends::<8>(left, right),
            _ => left == right,
        }
}

#[inline]
fn same_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
    left.first_chunk::<N>() == right.first_chunk::<N>()
        && left.last_chunk::<N>() == right.last_chunk::<N>()
}

/// Up to this many values are compared one by one.
const FEW: usize = 8;

/// Whether a text is among these, which are in their [`order`].
#[inline]
fn lists_text(sorted: &[Box<str>], text: &str) -> bool {
    if sorted.len() <= FEW {
        return sorted.iter().any(|known| same(known, text));
    }
    sorted.binary_search_by(|known| order(known, text)).is_ok()
}

/// Whether a number is among these, which are sorted.
fn lists_number(sorted: &[Num], num: Num) -> bool {
    if sorted.len() <= FEW {
        return sorted.iter().any(|known| known.compare(num).is_eq());
    }
    sorted.binary_search_by(|known| known.compare(num)).is_ok()
}

impl NumberPlan {
    fn takes(&self, num: Num) -> bool {
        (!self.integer || num.is_whole())
            && self.low.is_none_or(|low| {
                let order = num.compare(low.num);
                order.is_gt() || order.is_eq() && !low.strict
            })
            && self.high.is_none_or(|high| {
                let order = num.compare(high.num);
                order.is_lt() || order.is_eq() && !high.strict
            })
            && self.only.as_deref().is_none_or(|only| lists_number(only, num))
    }
}

impl ArrayPlan {
    /// The plan of the element at `index`.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &Plan {
        self.places.get(index).unwrap_or(&self.items)
    }

    /// Whether elements that are scalars stay as they are.
    fn takes_scalars<'d>(&self, array: impl Data<'d>, count: usize) -> bool {
        let mut items = array.items().enumerate();
        !self.unique
            && self.takes_count(count)
            && items.all(|(at, item)| self.at(at).takes_scalar(item.kind()))
    }

    pub(crate) fn takes_count(&self, count: usize) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

/// What becomes of the unknown keys of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unknown<'p> {
    Keep,
    Strip,
    Refuse,
    Judge(&'p Plan),
}

impl ObjectPlan {
    /// The place of a name. `hint` is where it is expected: properties mostly
    /// come in schema order, perhaps without one that may be left out.
    #[inline]
    pub(crate) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.entries.get(hint).is_some_and(|entry| same(&entry.name, name)) {
            return Some(hint);
        }
        self.search(name, hint + 1)
    }

    fn search(&self, name: &str, hint: usize) -> Option<usize> {
        if self.entries.get(hint).is_some_and(|entry| same(&entry.name, name)) {
            return Some(hint);
        }
        let found = self.by_name.binary_search_by(|at| order(&self.entries[*at].name, name));
        found.ok().map(|place| self.by_name[place])
    }

    /// Whether members that are scalars stay as they are, in their order.
    fn takes_scalars<'d>(
        &self,
        object: impl Data<'d>,
        count: usize,
        options: &ValidationOptions,
    ) -> bool {
        let keeps_unknown = matches!(self.unknown(options), Unknown::Keep);
        let mut hint = 0;
        let mut seen = 0_u64;
        for (name, value) in object.members() {
            let Some(index) = self.find(name, hint) else {
                // No listed name may follow it.
                hint = self.listed;
                if !keeps_unknown {
                    return false;
                }
                continue;
            };
            let fits = index >= hint && self.entries[index].plan.takes_scalar(value.kind());
            if !fits || index >= self.listed {
                return false;
            }
            seen |= 1 << index;
            hint = index + 1;
        }
        (self.required | self.defaulted) & !seen == 0 && (self.min..=self.max).contains(&count)
    }

    pub(crate) fn unknown(&self, options: &ValidationOptions) -> Unknown<'_> {
        if let Additional::Plan(plan) = &self.additional {
            return Unknown::Judge(plan);
        }
        if options.strip_unknown && self.lists_properties {
            return Unknown::Strip;
        }
        let is_refused = matches!(self.additional, Additional::Refused);
        let refuse = match options.allow_unknown {
            Some(false) => !matches!(self.additional, Additional::Allowed),
            Some(true) => false,
            None => is_refused,
        };
        if refuse { Unknown::Refuse } else { Unknown::Keep }
    }
}
