//! Rules of one kind of value, each with its judgement.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use serde_json::{Map, Value};
use stockade_errors::__internal::sort_by;

use super::Node;
use super::judge::Violation;
use crate::canonical::CanonicalText;
use crate::data::{Data, Kind};
use crate::equal::{equal, order, same};
use crate::format::Format;
use crate::number::{Num, shown};
use crate::pattern::Pattern;
use crate::text_form::TextForm;

/// The values of an `enum` or of a `const`, in a form for searching.
#[derive(Debug)]
pub(crate) struct Literals {
    /// The name of the keyword.
    rule: &'static str,
    /// Sorted by length, then by letters.
    texts: Box<[Box<str>]>,
    /// Sorted.
    numbers: Box<[Num]>,
    others: Box<[Value]>,
    /// `Must be …`.
    message: Box<str>,
}

impl Literals {
    pub(crate) fn one_of(values: &[Value]) -> Self {
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        Self::new("enum", values, format!("Must be one of: {}", shown.join(", ")))
    }

    pub(crate) fn constant(value: &Value) -> Self {
        Self::new("const", std::slice::from_ref(value), format!("Must be {value}"))
    }

    fn new(rule: &'static str, values: &[Value], message: String) -> Self {
        let is_other = |value: &&Value| !value.is_string() && !value.is_number();
        let mut texts: Vec<Box<str>> =
            values.iter().filter_map(Value::as_str).map(Into::into).collect();
        let mut numbers: Vec<Num> =
            values.iter().filter_map(Value::as_number).map(Num::of).collect();
        sort_by(&mut texts, |left, right| order(left, right));
        sort_by(&mut numbers, |left, right| left.compare(*right));
        Self {
            rule,
            texts: texts.into(),
            numbers: numbers.into(),
            others: values.iter().filter(is_other).cloned().collect(),
            message: message.into(),
        }
    }

    /// Returns true if an array or an object is among them.
    pub(crate) fn has_containers(&self) -> bool {
        self.others.iter().any(|value| value.is_array() || value.is_object())
    }

    pub(super) fn broken(&self) -> Violation<'_> {
        Violation::Shown(self.rule, &self.message)
    }

    #[inline]
    pub(super) fn has_text(&self, text: &str) -> bool {
        if self.texts.len() <= FEW {
            return self.texts.iter().any(|known| same(known, text));
        }
        self.texts.binary_search_by(|known| order(known, text)).is_ok()
    }

    #[inline]
    pub(super) fn has_number(&self, num: Num) -> bool {
        if self.numbers.len() <= FEW {
            return self.numbers.iter().any(|known| known.compare(num).is_eq());
        }
        self.numbers.binary_search_by(|known| known.compare(num)).is_ok()
    }

    pub(crate) fn has<'d>(&self, data: impl Data<'d>) -> bool {
        match data.kind() {
            Kind::Text(text) => self.has_text(text),
            Kind::Number(number) => self.has_number(Num::of(number)),
            Kind::Null | Kind::Bool(_) | Kind::Array(_) | Kind::Object(_) => {
                !self.others.is_empty() && {
                    let value = data.to_value();
                    self.others.iter().any(|known| equal(known, &value))
                }
            }
        }
    }
}

/// Up to this many values are compared one by one.
const FEW: usize = 8;

/// A lower or an upper bound of a number or of a count.
#[derive(Debug)]
pub(crate) struct Limit {
    /// The name of the keyword.
    rule: &'static str,
    relation: Relation,
    num: Num,
    message: Box<str>,
}

/// The relation to a bound in which a value must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Relation {
    fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::Above => "greater than",
            Self::Below => "less than",
        }
    }
}

/// A keyword that bounds a number or a count.
pub(crate) type Bound = (&'static str, Relation);

impl Limit {
    /// Returns the limits that `keywords` have of these `bounds`; a message is
    /// made of the words before and behind the bound.
    pub(crate) fn all(
        keywords: &Map<String, Value>,
        bounds: &[Bound],
        (before, behind): (&str, &str),
    ) -> Box<[Self]> {
        let limit = |(rule, relation): &Bound| {
            let number = keywords.get(*rule)?.as_number()?;
            let message = format!("{before} {} {}{behind}", relation.words(), shown(number));
            let (rule, relation, num) = (*rule, *relation, Num::of(number));
            Some(Self { rule, relation, num, message: message.into() })
        };
        bounds.iter().filter_map(limit).collect()
    }

    /// Narrows a range of whole numbers to those that are within this limit;
    /// `None` where the limit is no whole number.
    pub(super) fn narrow(&self, (low, high): (i128, i128)) -> Option<(i128, i128)> {
        let Num::Whole(bound) = self.num else {
            return None;
        };
        Some(match self.relation {
            Relation::AtLeast => (low.max(bound), high),
            Relation::AtMost => (low, high.min(bound)),
            Relation::Above => (low.max(bound.checked_add(1)?), high),
            Relation::Below => (low, high.min(bound.checked_sub(1)?)),
        })
    }

    #[inline]
    pub(super) fn is_broken_by(&self, num: Num) -> bool {
        let order = num.compare(self.num);
        match self.relation {
            Relation::AtLeast => order.is_lt(),
            Relation::AtMost => order.is_gt(),
            Relation::Above => order.is_le(),
            Relation::Below => order.is_ge(),
        }
    }

    pub(super) fn broken(&self) -> Violation<'_> {
        Violation::Shown(self.rule, &self.message)
    }
}

/// Limits of a length, or of how many values a container has.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The least count that all limits allow; none is allowed if it is above `most`.
    pub(crate) least: usize,
    pub(crate) most: usize,
    limits: Box<[Limit]>,
}

impl Counts {
    pub(crate) fn new(limits: Box<[Limit]>) -> Self {
        let (mut least, mut most) = (0, usize::MAX);
        for limit in &limits {
            match (limit.relation, count_bounds(limit.num)) {
                (Relation::AtLeast | Relation::Above, (at_least, _)) => least = at_least.max(least),
                // No count is that low.
                (_, (_, None)) => (least, most) = (usize::MAX, 0),
                (_, (_, Some(at_most))) => most = at_most.min(most),
            }
        }
        Self { least, most, limits }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    #[inline]
    pub(crate) fn takes(&self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }

    /// Judges a count.
    #[inline]
    pub(crate) fn judge(
        &self,
        count: usize,
        no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.takes(count) { ControlFlow::Continue(()) } else { self.name(count, no) }
    }

    /// Judges the count of code points in a text. They are counted only if the
    /// bytes, one to four for each, do not tell.
    #[inline]
    pub(super) fn judge_text(
        &self,
        text: &str,
        no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let bytes = text.len();
        if bytes <= self.most && bytes / 4 >= self.least || self.takes(length(text)) {
            return ControlFlow::Continue(());
        }
        self.name(length(text), no)
    }

    #[cold]
    fn name(
        &self,
        count: usize,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let num = Num::Whole(count as i128);
        let mut broken = self.limits.iter().filter(|limit| limit.is_broken_by(num));
        broken.try_for_each(|limit| no(limit.broken()))
    }
}

/// Returns the length of a text in code points.
fn length(text: &str) -> usize {
    // Each code point beyond ASCII has a byte that is not ASCII.
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Returns the least count that is not below a bound, and the greatest that is
/// not above it, if any is.
pub(crate) fn count_bounds(bound: Num) -> (usize, Option<usize>) {
    // A count that does not fit is beyond every count.
    let clamp = |whole: i128| usize::try_from(whole.max(0)).unwrap_or(usize::MAX);
    let (least, most) = match bound {
        Num::Whole(whole) => (clamp(whole), clamp(whole)),
        Num::Float(float) => (float_count(float.ceil()), float_count(float.floor())),
    };
    let is_negative = bound.compare(Num::Whole(0)) == Ordering::Less;
    (least, (!is_negative).then_some(most))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes its nearer end"
)]
fn float_count(float: f64) -> usize {
    float as usize
}

/// Keywords for strings.
#[derive(Debug)]
pub(crate) struct TextRules {
    pub(crate) lengths: Counts,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
    pub(crate) form: Option<TextForm>,
    pub(crate) canonical: Option<CanonicalText>,
}

/// Keywords for arrays.
#[derive(Debug)]
pub(crate) struct ArrayRules {
    pub(crate) counts: Counts,
    pub(crate) unique: bool,
    /// Of the first elements, each its own.
    pub(crate) places: Box<[Node]>,
    /// Of the other elements, unless any value is right.
    pub(crate) items: Option<Node>,
}

impl ArrayRules {
    /// Returns the rule of the element at `index`; `None` if any value is
    /// right.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<&Node> {
        self.places.get(index).or(self.items.as_ref())
    }
}
