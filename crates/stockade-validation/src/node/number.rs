//! The keywords of numbers: fields, compilation, check and export.

use std::ops::ControlFlow::{self, Continue};

use serde_json::{Map, Value};

use super::keywords::{Source, copy, text_of};
use super::limits::{Bound, Limit, Relation};
use super::violation::Violation;
use crate::format::Format;
use crate::number::Num;

/// Keywords for numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    limits: Box<[Limit]>,
}

const BOUNDS: &[Bound] = &[
    ("minimum", Relation::AtLeast),
    ("maximum", Relation::AtMost),
    ("exclusiveMinimum", Relation::Above),
    ("exclusiveMaximum", Relation::Below),
    ("min", Relation::AtLeast),
    ("max", Relation::AtMost),
    MULTIPLE,
];

const MULTIPLE: Bound = ("multipleOf", Relation::MultipleOf);

impl NumberRules {
    pub(crate) fn compile(source: &mut Source<'_>) -> Self {
        let factor = source.keywords.get(MULTIPLE.0).and_then(Value::as_number);
        if factor.is_some_and(|factor| !Num::of(factor).is_positive()) {
            let message = "`multipleOf` must be a number above 0";
            source.mistakes.push((MULTIPLE.0, message.to_owned()));
        }
        let limits = Limit::all(source.keywords, BOUNDS, ("Number must be", ""));
        let format = text_of(source.keywords, "format").and_then(Format::from_name);
        let of_format = format.into_iter().flat_map(Limit::of_format);
        Self { limits: limits.into_iter().chain(of_format).collect() }
    }

    /// Returns true if every number is valid.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let Self { limits } = self;
        limits.is_empty()
    }

    /// Checks a number.
    #[inline]
    pub(super) fn validate(
        &self,
        num: Num,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for limit in &self.limits {
            if limit.is_broken_by(num) {
                no(limit.broken())?;
            }
        }
        Continue(())
    }

    /// Returns a range of whole numbers that are all valid. Other numbers are checked.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        let Self { limits } = self;
        let all = (0, i128::from(u64::MAX));
        let (low, high) = limits.iter().try_fold(all, |range, limit| limit.narrow(range))?;
        Some((u64::try_from(low).ok()?, u64::try_from(high).ok()?))
    }

    /// Writes the keywords of JSON Schema. The export adds `min` and `max`.
    pub(crate) fn export(keywords: &Map<String, Value>, out: &mut Map<String, Value>) {
        const SAME: [&str; 5] =
            ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        copy(keywords, &SAME, out);
    }
}
