//! Bounds of numbers, and of lengths and counts.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::aspect::Effect;

/// The keywords of counts, with true for a lower bound.
const COUNTS: [(&str, bool); 6] = [
    ("minLength", true),
    ("maxLength", false),
    ("minItems", true),
    ("maxItems", false),
    ("minProperties", true),
    ("maxProperties", false),
];

/// Returns the keywords with different bounds, each with its effect.
pub(super) fn compare(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Vec<(&'static str, Effect)> {
    let mut found = Vec::new();
    for (keyword, is_lower) in COUNTS {
        let (before, after) = (count(old, keyword, is_lower), count(new, keyword, is_lower));
        found.extend(effect(before, after, is_lower).map(|effect| (keyword, effect)));
    }
    for keywords in [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
    {
        let (closed, open, is_lower) = keywords;
        let (before, after) = (number(old, keywords), number(new, keywords));
        let name = if after.or(before).is_some_and(|it| it.is_open) { open } else { closed };
        found.extend(effect(before, after, is_lower).map(|effect| (name, effect)));
    }
    let is_unique = |schema: &Map<String, Value>| schema.get("uniqueItems") == Some(&true.into());
    match (is_unique(old), is_unique(new)) {
        (false, true) => found.push(("uniqueItems", Effect::Narrower)),
        (true, false) => found.push(("uniqueItems", Effect::Wider)),
        _ => {}
    }
    found
}

/// Returns the bound of a count. A lower bound of 0 counts as unset.
fn count<'s>(schema: &'s Map<String, Value>, keyword: &str, is_lower: bool) -> Option<Bound<'s>> {
    let bound = Bound::of(schema, keyword, false)?;
    (!is_lower || bound.is_above_zero()).then_some(bound)
}

/// Returns the bound of a number, or the tighter of its two bounds.
fn number<'s>(
    schema: &'s Map<String, Value>,
    (closed, open, is_lower): (&str, &str, bool),
) -> Option<Bound<'s>> {
    let (closed, open) = (Bound::of(schema, closed, false), Bound::of(schema, open, true));
    match (closed, open) {
        (Some(closed), Some(open)) => Some(closed.tighter(open, is_lower)),
        (closed, open) => closed.or(open),
    }
}

/// A bound. It is open if it excludes the bound itself.
#[derive(Clone, Copy)]
struct Bound<'s> {
    number: &'s Number,
    is_open: bool,
}

impl<'s> Bound<'s> {
    fn of(schema: &'s Map<String, Value>, keyword: &str, is_open: bool) -> Option<Self> {
        Some(Self { number: schema.get(keyword)?.as_number()?, is_open })
    }

    fn is_above_zero(self) -> bool {
        compare_numbers(self.number, &Number::from(0)).is_gt()
    }

    /// Compares by tightness: the greater bound allows fewer values.
    fn tightness(self, other: Bound<'_>, is_lower: bool) -> Ordering {
        let by_number = compare_numbers(self.number, other.number);
        let by_number = if is_lower { by_number } else { by_number.reverse() };
        by_number.then(self.is_open.cmp(&other.is_open))
    }

    fn tighter(self, other: Self, is_lower: bool) -> Self {
        if self.tightness(other, is_lower).is_ge() { self } else { other }
    }
}

fn effect(old: Option<Bound<'_>>, new: Option<Bound<'_>>, is_lower: bool) -> Option<Effect> {
    match (old, new) {
        (None, None) => None,
        (None, Some(_)) => Some(Effect::Narrower),
        (Some(_), None) => Some(Effect::Wider),
        (Some(before), Some(after)) => match after.tightness(before, is_lower) {
            Ordering::Greater => Some(Effect::Narrower),
            Ordering::Less => Some(Effect::Wider),
            Ordering::Equal => None,
        },
    }
}

/// Compares numbers. The comparison of integers is exact.
fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn compares_bounds_by_the_accepted_values() {
        fn check(old: &Value, new: &Value, expected: &[(&str, Effect)]) {
            let (Value::Object(before), Value::Object(after)) = (old, new) else { unreachable!() };
            assert_eq!(compare(before, after), expected, "{old} -> {new}");
        }
        check(&json!({}), &json!({ "minLength": 0 }), &[]);
        check(
            &json!({ "minLength": 1 }),
            &json!({ "minLength": 8 }),
            &[("minLength", Effect::Narrower)],
        );
        check(
            &json!({ "maximum": 10 }),
            &json!({ "maximum": 10.5 }),
            &[("maximum", Effect::Wider)],
        );
        check(
            &json!({ "minimum": 0 }),
            &json!({ "exclusiveMinimum": 0 }),
            &[("exclusiveMinimum", Effect::Narrower)],
        );
        check(&json!({ "minimum": 1, "exclusiveMinimum": 0 }), &json!({ "minimum": 1 }), &[]);
        let large = u64::MAX;
        check(
            &json!({ "maximum": large }),
            &json!({ "maximum": large - 1 }),
            &[("maximum", Effect::Narrower)],
        );
        check(
            &json!({ "uniqueItems": true }),
            &json!({ "uniqueItems": false }),
            &[("uniqueItems", Effect::Wider)],
        );
    }
}
