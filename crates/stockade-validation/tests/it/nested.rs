//! Containers of scalars, which pass as a whole if they are valid: errors and
//! changes are never missed.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stockade_validation::{ReadError, Rule, ValidationOptions, validate_against_schema};

use crate::properties::{sample, value};
use crate::reading::RULES;
use crate::support::lines;

/// Checks that `x` has the same result whether or not it may pass as a whole; a
/// rule with a function looks at each value. `w` is invalid, so the whole never
/// passes.
#[track_caller]
fn agree(rule: &Value, data: &Value, options: &ValidationOptions) {
    let inner = Rule::from_value(rule);
    let schema = |inner: Rule| Rule::object([("w", Rule::string()), ("x", inner)]).build().unwrap();
    let whole = schema(inner.clone());
    let each = schema(inner.custom(|_, _, _| true));
    let data = json!({ "w": [], "x": data });
    let actual = validate_against_schema(&whole, data.clone(), options).unwrap();
    let expected = validate_against_schema(&each, data.clone(), options).unwrap();
    assert_eq!(lines(&actual.errors), lines(&expected.errors), "{rule} for {data}");
    assert_eq!(actual.data.to_string(), expected.data.to_string(), "{rule} for {data}");

    let unparsed = whole.read_json::<Value>(data.to_string().as_bytes(), options);
    let errors = match unparsed {
        Err(ReadError::Invalid(errors)) => lines(&errors),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(errors, lines(&expected.errors), "{rule} for the text {data}");
}

fn options() -> impl Strategy<Value = ValidationOptions> {
    (any::<bool>(), any::<Option<bool>>(), any::<bool>()).prop_map(|(strip, allow, coerce)| {
        let mut options = ValidationOptions::new().strip_unknown(strip).coerce_types(coerce);
        options.allow_unknown = allow;
        options
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1..6).prop_map(|whole| json!(whole)),
        (-1..6).prop_map(|whole| json!(f64::from(whole))),
        prop::sample::select(vec!["", " ", "a", " b ", "1", "é"]).prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn typed_and_untyped_objects_agree(
        picks in prop::collection::vec(0..RULES.len(), 0..4),
        members in prop::collection::vec(("[a-ez]", scalar()), 0..5),
        (required, more) in (prop::sample::subsequence(vec!["a", "z"], 0..=2), any::<bool>()),
        (min, options) in (0..3_u8, options()),
    ) {
        let rules: Map<String, Value> = "abcd"
            .chars()
            .zip(picks)
            .map(|(name, pick)| (name.to_string(), RULES[pick].clone()))
            .collect();
        let mut rule = json!({ "type": "object", "properties": rules, "required": required });
        rule["minProperties"] = json!(min);
        if more {
            rule["additionalProperties"] = json!({ "type": "integer" });
        }
        // The order does not matter.
        agree(&rule, &members.into_iter().collect(), &options);
    }

    #[test]
    fn typed_and_untyped_arrays_agree(
        pick in 0..RULES.len(), items in prop::collection::vec(scalar(), 0..4),
        (unique, max) in (any::<bool>(), 0..4_u8), options in options(),
    ) {
        let items = Value::from(items);
        let element = RULES[pick].clone();
        let rule = json!({ "type": "array", "items": element, "uniqueItems": unique, "maxItems": max });
        agree(&rule, &items, &options);
        agree(&element, &items, &options);
    }

    #[test]
    fn typed_and_untyped_nested_values_agree(
        (rule, good, bad) in sample(), other in value(), options in options(),
    ) {
        for data in [&good, &bad.0, &other] {
            agree(&rule, data, &options);
        }
    }
}
