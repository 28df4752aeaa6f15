//! The order of JSON values for filters and sorts of the in-memory store.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::decimal::decimal_key;
use crate::canonical::Canonical;
use crate::store::{Direction, Filter, ListQuery, Op, RowFilter, Sort};

/// Changes exact numbers to texts with the same order.
pub(super) fn change_decimals(canonical: &Canonical, values: &mut Map<String, Value>) {
    if canonical.is_empty() {
        return;
    }
    for (field, value) in values {
        if canonical.is_decimal(field) {
            *value = key_of(canonical, field, std::mem::take(value));
        }
    }
}

/// Returns the canonical form of a value, for comparisons.
pub(super) fn key_of(canonical: &Canonical, field: &str, value: Value) -> Value {
    let key = match &value {
        Value::String(text) if canonical.is_decimal(field) => decimal_key(text),
        _ => None,
    };
    key.map_or(value, Value::String)
}

/// Changes the values of a scope to their canonical form.
pub(super) fn scope_keys<'s>(
    canonical: &Canonical,
    scope: Cow<'s, RowFilter>,
) -> Cow<'s, RowFilter> {
    let mut fields = scope.conditions().iter();
    if canonical.is_empty() || !fields.any(|(field, _)| canonical.is_decimal(field)) {
        return scope;
    }
    let conditions = scope.conditions().iter().cloned();
    Cow::Owned(conditions.fold(RowFilter::all(), |scope, (field, value)| {
        let value = key_of(canonical, &field, value);
        scope.and_eq(field, value)
    }))
}

/// Changes the values of a query to their canonical form.
pub(super) fn page_keys<'a>(
    canonical: &Canonical,
    query: Cow<'a, ListQuery>,
) -> Cow<'a, ListQuery> {
    if canonical.is_empty() {
        return query;
    }
    let mut query = query.into_owned();
    query.scope = scope_keys(canonical, Cow::Owned(query.scope)).into_owned();
    for filter in query.filters.iter_mut().filter(|filter| canonical.is_decimal(&filter.field)) {
        for value in &mut filter.values {
            *value = key_of(canonical, &filter.field, std::mem::take(value));
        }
    }
    for (sort, key) in query.sorts.iter().zip(query.after.iter_mut().flatten()) {
        *key = key_of(canonical, &sort.field, std::mem::take(key));
    }
    Cow::Owned(query)
}

/// A JSON value with an order.
#[derive(Clone, Debug)]
pub(super) struct Key(pub(super) Value);

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// Compares two values: numbers numerically, texts by code points, and values
/// of different types by their types.
pub(super) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            left.to_string().cmp(&right.to_string())
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        // serde_json numbers are finite, and convert to floats without its
        // `arbitrary_precision` feature.
        _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Returns a field's value, or null if it is missing.
pub(super) fn field<'v>(item: &'v Value, name: &str) -> &'v Value {
    item.get(name).unwrap_or(&Value::Null)
}

/// Returns true if an item is in a scope.
pub(super) fn is_in(item: &Value, scope: &RowFilter) -> bool {
    scope.conditions().iter().all(|(name, expected)| equal(field(item, name), expected))
}

/// Returns true if an item passes a filter.
pub(super) fn passes(item: &Value, filter: &Filter) -> bool {
    let value = field(item, &filter.field);
    filter.values.iter().any(|right| holds(value, filter.op, right))
}

fn holds(left: &Value, op: Op, right: &Value) -> bool {
    let ordering = || {
        let comparable = !left.is_null() && rank(left) == rank(right);
        comparable.then(|| compare(left, right))
    };
    match op {
        Op::Eq => equal(left, right),
        Op::Lt => ordering().is_some_and(Ordering::is_lt),
        Op::Lte => ordering().is_some_and(Ordering::is_le),
        Op::Gt => ordering().is_some_and(Ordering::is_gt),
        Op::Gte => ordering().is_some_and(Ordering::is_ge),
        Op::Prefix => match (left, right) {
            (Value::String(left), Value::String(right)) => left.starts_with(right),
            _ => false,
        },
        Op::Null => *right == Value::Bool(left.is_null()),
    }
}

/// Returns true if both are equal and not null.
fn equal(left: &Value, right: &Value) -> bool {
    !left.is_null() && compare(left, right).is_eq()
}

/// Compares the keys of an item with the keys of another position.
pub(super) fn compare_keys<'k>(
    left: impl Iterator<Item = &'k Value>,
    right: impl Iterator<Item = &'k Value>,
    sorts: &[Sort],
) -> Ordering {
    let orderings = left.zip(right).zip(sorts).map(|((left, right), sort)| {
        let ordering = compare(left, right);
        match sort.direction {
            Direction::Ascending => ordering,
            Direction::Descending => ordering.reverse(),
        }
    });
    orderings.fold(Ordering::Equal, Ordering::then)
}

/// Returns the keys of an item in an order.
pub(super) fn keys<'k>(item: &'k Value, sorts: &'k [Sort]) -> impl Iterator<Item = &'k Value> {
    sorts.iter().map(|sort| field(item, &sort.field))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(left: &Value, op: Op, right: &Value, expected: bool) {
        assert_eq!(holds(left, op, right), expected, "{left} {op} {right}");
    }

    #[test]
    fn values_are_compared_within_their_type() {
        for (left, right) in [
            (json!(1), json!(2)),
            (json!(-1), json!(u64::MAX)),
            (json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_993_i64)),
            (json!(1.5), json!(2)),
            (json!(false), json!(true)),
            (json!("Z"), json!("a")),
            (json!("a"), json!("é")),
            (json!("\u{ffff}"), json!("\u{10000}")),
        ] {
            check(&left, Op::Lt, &right, true);
            check(&left, Op::Lte, &left, true);
            check(&right, Op::Gt, &left, true);
            check(&right, Op::Gte, &left, true);
            check(&right, Op::Lt, &left, false);
            check(&left, Op::Eq, &right, false);
            check(&left, Op::Eq, &left, true);
        }
        check(&json!(1), Op::Eq, &json!(1.0), true);
        check(&json!("1"), Op::Eq, &json!(1), false);
        check(&json!("1"), Op::Gt, &json!(1), false);
    }

    #[test]
    fn null_passes_only_the_null_comparison() {
        for op in Op::ALL {
            check(&Value::Null, op, &json!(true), op == Op::Null);
            check(&Value::Null, op, &Value::Null, false);
            check(&json!(1), op, &Value::Null, false);
        }
        check(&json!("tea"), Op::Null, &json!(false), true);
        check(&json!("tea"), Op::Null, &json!(true), false);
    }

    #[test]
    fn a_prefix_has_no_wildcards() {
        check(&json!("50%_off"), Op::Prefix, &json!("50%"), true);
        check(&json!("500 off"), Op::Prefix, &json!("50%"), false);
        check(&json!("50a"), Op::Prefix, &json!("50_"), false);
        check(&json!("Tea"), Op::Prefix, &json!("te"), false);
        check(&json!(50), Op::Prefix, &json!("5"), false);
    }
}
