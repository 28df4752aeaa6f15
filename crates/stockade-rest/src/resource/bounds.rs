//! Adds a store's integer bounds to the input schemas.

use std::ops::RangeInclusive;

use serde_json::{Number, Value};
use stockade_validation::{Rule, Schema};

/// Narrows the integer rules to the range that the store supports. `schema` is
/// the compiled rule; its own narrower bounds are preserved.
pub(super) fn within(
    rule: Rule,
    schema: &Schema,
    integers: &[(String, RangeInclusive<i64>)],
) -> Rule {
    let root = schema.to_json_schema();
    integers.iter().fold(rule, |rule, (name, range)| {
        let (least, greatest) = (*range.start(), *range.end());
        let property = root.get("properties").and_then(|it| it.get(name)).unwrap_or(&Value::Null);
        let property = resolved(property, &root);
        let has_bound = |names: [&str; 2], is_within: &dyn Fn(&Number) -> bool| {
            names
                .iter()
                .any(|it| matches!(property.get(it), Some(Value::Number(b)) if is_within(b)))
        };
        let has_least = has_bound(["minimum", "exclusiveMinimum"], &|it| is_at_least(it, least));
        let has_greatest =
            has_bound(["maximum", "exclusiveMaximum"], &|it| is_at_most(it, greatest));
        rule.change_property(name, &|rule| {
            let rule = if has_least { rule } else { rule.minimum(least) };
            if has_greatest { rule } else { rule.maximum(greatest) }
        })
    })
}

fn is_at_least(bound: &Number, least: i64) -> bool {
    match bound.as_i64() {
        Some(bound) => bound >= least,
        // The bound exceeds `i64` or has a fraction.
        None => bound.as_f64().is_some_and(|bound| bound >= least as f64),
    }
}

fn is_at_most(bound: &Number, greatest: i64) -> bool {
    match bound.as_i64() {
        Some(bound) => bound <= greatest,
        None => !bound.is_u64() && bound.as_f64().is_some_and(|bound| bound <= greatest as f64),
    }
}

/// Follows the reference of a property. References in our own schemas always
/// end.
fn resolved<'s>(mut property: &'s Value, root: &'s Value) -> &'s Value {
    for _ in 0..8 {
        let reference = property.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|it| root.pointer(it.strip_prefix('#')?));
        let Some(target) = target else { break };
        property = target;
    }
    property
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stockade_validation::HasSchema as _;

    use super::*;

    #[track_caller]
    fn check(field: Rule, range: RangeInclusive<i64>, least: &Value, greatest: &Value) {
        let rule = Rule::object([("it", field.required())]);
        let schema = rule.clone().build().unwrap();
        let narrow = within(rule, &schema, &[("it".to_owned(), range)]).build().unwrap();
        let schema = narrow.to_json_schema();
        let found =
            (&schema["properties"]["it"]["minimum"], &schema["properties"]["it"]["maximum"]);
        assert_eq!(found, (least, greatest), "{schema}");
        assert_eq!(schema["required"], json!(["it"]));
    }

    #[test]
    fn the_narrower_bound_holds() {
        let all = i64::MIN..=i64::MAX;
        check(u64::rule(), all.clone(), &json!(0), &json!(i64::MAX));
        check(u64::rule().maximum(5), all.clone(), &json!(0), &json!(5));
        check(u64::rule().maximum(1e3), all.clone(), &json!(0), &json!(1e3));
        check(u64::rule().maximum(1e300), all.clone(), &json!(0), &json!(i64::MAX));
        check(Option::<u64>::rule(), all.clone(), &json!(0), &json!(i64::MAX));
        check(i64::rule(), all.clone(), &json!(i64::MIN), &json!(i64::MAX));
        check(Rule::integer(), all, &json!(i64::MIN), &json!(i64::MAX));
        check(i64::rule(), -5..=5, &json!(-5), &json!(5));
        check(u32::rule(), -5..=5, &json!(0), &json!(5));
        check(u8::rule(), -5..=500, &json!(0), &json!(255));
    }

    #[test]
    fn other_fields_stay_as_they_are() {
        let rule = Rule::object([("it", Rule::integer())]);
        let schema = rule.clone().build().unwrap();
        let same = within(rule, &schema, &[("other".to_owned(), 0..=1)]).build().unwrap();
        assert_eq!(same.to_json_schema(), schema.to_json_schema());
    }
}
