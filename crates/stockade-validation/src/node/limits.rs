//! Bounds of numbers and counts.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use serde_json::{Map, Number, Value};
use stockade_errors::FieldError;

use super::violation::Violation;
use crate::format::Format;
use crate::number::{Num, is_multiple, shown};

/// A lower or upper bound of a number or a count.
#[derive(Debug)]
pub(crate) struct Limit {
    /// The name of the keyword.
    rule: &'static str,
    /// The id of the message.
    text_id: &'static str,
    /// The number format that sets the bound, or `None` for a bound of the
    /// schema.
    format: Option<Format>,
    relation: Relation,
    num: Num,
    message: Box<str>,
}

/// The required relation of a value to its bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
    MultipleOf,
}

impl Relation {
    fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::Above => "greater than",
            Self::Below => "less than",
            Self::MultipleOf => "a multiple of",
        }
    }
}

/// A keyword that bounds a number or a count.
pub(crate) type Bound = (&'static str, Relation);

impl Limit {
    /// Returns the limits that `keywords` set for these `bounds`. A message
    /// consists of the words before the bound, the bound and the words after
    /// it.
    pub(crate) fn all(
        keywords: &Map<String, Value>,
        bounds: &[Bound],
        (before, behind): (&str, &str),
    ) -> Box<[Self]> {
        let limit = |(rule, relation): &Bound| {
            let number = keywords.get(*rule)?.as_number()?;
            let message = format!("{before} {} {}{behind}", relation.words(), shown(number));
            let (rule, relation, num) = (*rule, *relation, Num::of(number));
            let text_id = text_id(before, relation).unwrap_or(rule);
            Some(Self { rule, text_id, format: None, relation, num, message: message.into() })
        };
        bounds.iter().filter_map(limit).collect()
    }

    /// Returns true if the format applies to numbers.
    pub(crate) fn is_of_numbers(format: Format) -> bool {
        matches!(format, Format::Int32 | Format::Int64 | Format::Float | Format::Double)
    }

    /// Returns the limits of a number format.
    pub(crate) fn of_format(format: Format) -> Vec<Self> {
        let (low, high, is_whole) = match format {
            Format::Int32 => (Num::Whole(i32::MIN.into()), Num::Whole(i32::MAX.into()), true),
            Format::Int64 => (Num::Whole(i64::MIN.into()), Num::Whole(i64::MAX.into()), true),
            Format::Float => {
                (Num::of_float(f32::MIN.into()), Num::of_float(f32::MAX.into()), false)
            }
            _ => return Vec::new(),
        };
        let limit = |(relation, num)| Self {
            rule: "format",
            text_id: "format",
            format: Some(format),
            relation,
            num,
            message: format.message().into(),
        };
        let bounds = [(Relation::AtLeast, low), (Relation::AtMost, high)].map(limit);
        let whole = is_whole.then(|| limit((Relation::MultipleOf, Num::Whole(1))));
        bounds.into_iter().chain(whole).collect()
    }

    /// Narrows a range of whole numbers to this limit. Returns `None` if the
    /// limit is not a whole number.
    pub(super) fn narrow(&self, (low, high): (i128, i128)) -> Option<(i128, i128)> {
        let Num::Whole(bound) = self.num else {
            return None;
        };
        Some(match self.relation {
            Relation::AtLeast => (low.max(bound), high),
            Relation::AtMost => (low, high.min(bound)),
            Relation::Above => (low.max(bound.checked_add(1)?), high),
            Relation::Below => (low, high.min(bound.checked_sub(1)?)),
            Relation::MultipleOf if bound == 1 => (low, high),
            Relation::MultipleOf => return None,
        })
    }

    #[inline]
    pub(super) fn is_broken_by(&self, num: Num) -> bool {
        if self.relation == Relation::MultipleOf {
            return !is_multiple(num, self.num);
        }
        let order = num.compare(self.num);
        match self.relation {
            Relation::AtLeast => order.is_lt(),
            Relation::AtMost => order.is_gt(),
            Relation::Above => order.is_le(),
            Relation::Below | Relation::MultipleOf => order.is_ge(),
        }
    }

    pub(super) fn broken(&self) -> Violation<'_> {
        Violation::Bound(self)
    }

    pub(super) fn rule(&self) -> &'static str {
        self.rule
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Adds the bound or the name of the format to an error.
    pub(super) fn add_params(&self, error: FieldError) -> FieldError {
        if let Some(format) = self.format {
            return error.with_param("format", format.name());
        }
        let name = if self.relation == Relation::MultipleOf { "factor" } else { "limit" };
        match self.num {
            Num::Whole(whole) => match Number::from_i128(whole) {
                Some(number) => error.with_param(name, number),
                None => error.with_param(name, whole.to_string()),
            },
            Num::Float(float) => error.with_param(name, float),
        }
    }

    pub(super) fn text_id(&self) -> &'static str {
        self.text_id
    }
}

/// Returns the id of a message, which does not depend on the keyword: `min` of
/// a text has the id `minLength`.
fn text_id(before: &str, relation: Relation) -> Option<&'static str> {
    use Relation::{AtLeast, AtMost};

    Some(match (before, relation) {
        ("String must be", AtLeast) => "minLength",
        ("String must be", AtMost) => "maxLength",
        ("Array must contain", AtLeast) => "minItems",
        ("Array must contain", AtMost) => "maxItems",
        ("Number must be", AtLeast) => "minimum",
        ("Number must be", AtMost) => "maximum",
        _ => return None,
    })
}

/// Limits of a length or of the number of values in a container.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The lowest count that all limits allow. No count is valid if it is above
    /// `most`.
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

    /// Checks a count.
    #[inline]
    pub(crate) fn validate(
        &self,
        count: usize,
        no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.takes(count) { ControlFlow::Continue(()) } else { self.name(count, no) }
    }

    /// Checks the number of code points in a text. Counts them only if the
    /// number of bytes, one to four per code point, does not decide.
    #[inline]
    pub(super) fn validate_text(
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
    // Each code point beyond ASCII contains a byte beyond ASCII.
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Returns the lowest count at or above a bound, and the highest count at or
/// below it, if any.
pub(crate) fn count_bounds(bound: Num) -> (usize, Option<usize>) {
    // A count that does not fit is greater than every possible count.
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
