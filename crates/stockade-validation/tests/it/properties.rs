//! Generated schemas with valid data: the data passes, each mutation fails with
//! its rule, and the `jsonschema` crate agrees.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stockade_validation::{Schema, ValidationOptions};

/// A rule, a valid value, and an invalid value with the name of the broken
/// rule.
pub(crate) type Sample = (Value, Value, (Value, String));

fn scalar() -> impl Strategy<Value = Sample> {
    prop_oneof![
        (0..5_usize, 0..5_usize).prop_map(|(min, more)| {
            let rule = json!({ "type": "string", "minLength": min, "maxLength": min + more });
            let bad = (json!("é".repeat(min + more + 1)), "maxLength".to_owned());
            (rule, json!("é".repeat(min + more / 2)), bad)
        }),
        (-50..50_i64, 0..50_i64).prop_map(|(low, more)| {
            let rule = json!({ "type": "integer", "minimum": low, "maximum": low + more });
            (rule, json!(low + more), (json!(low - 1), "minimum".to_owned()))
        }),
        (-5.0..5.0_f64).prop_map(|bound| {
            let rule = json!({ "type": "number", "exclusiveMaximum": bound });
            (rule, json!(bound - 0.5), (json!(bound), "exclusiveMaximum".to_owned()))
        }),
        Just((json!({ "type": "boolean" }), json!(false), (json!("no"), "type".to_owned()))),
        prop::collection::vec(0..9_i32, 1..4).prop_map(|values| {
            let rule = json!({ "enum": values });
            (rule, json!(f64::from(values[0])), (json!("none"), "enum".to_owned()))
        }),
        any::<i32>().prop_map(|n| {
            (json!({ "const": { "n": n } }), json!({ "n": n }), (json!(n), "const".to_owned()))
        }),
        "[a-c]{1,3}".prop_map(|text| {
            let rule = json!({ "type": ["string", "null"], "pattern": format!("^{text}$") });
            (rule, json!(text), (json!("zzz"), "pattern".to_owned()))
        }),
    ]
}

pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..4_usize).prop_map(|((rule, good, bad), count)| {
                let rule = json!({ "type": "array", "items": rule, "maxItems": count + 1 });
                let items = vec![good; count];
                let mut broken = items.clone();
                broken.push(bad.0);
                (rule, json!(items), (json!(broken), bad.1))
            }),
            (prop::collection::btree_map("[a-d]", inner, 1..4), any::<bool>(), any::<bool>())
                .prop_map(|(fields, closed, drop)| object(fields, closed, drop)),
        ]
    })
}

fn object(fields: std::collections::BTreeMap<String, Sample>, closed: bool, drop: bool) -> Sample {
    let mut properties = Map::new();
    let mut good = Map::new();
    let mut bad = None;
    for (name, (rule, fits, fails)) in fields {
        properties.insert(name.clone(), rule);
        good.insert(name.clone(), fits);
        bad = Some((name, fails));
    }
    let (name, (value, rule)) = bad.unwrap();
    let mut broken = good.clone();
    let rule = if drop {
        broken.remove(&name);
        "required".to_owned()
    } else if closed {
        broken.insert("other".to_owned(), json!(1));
        "additionalProperties".to_owned()
    } else {
        broken.insert(name.clone(), value);
        rule
    };
    let schema = json!({
        "type": "object", "properties": properties, "required": [name],
        "additionalProperties": !closed,
    });
    (schema, good.into(), (broken.into(), rule))
}

/// Generates any small value, for validation with any schema.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-60..60_i64).prop_map(Value::from),
        (-6.0..6.0_f64).prop_map(Value::from),
        "[a-cé]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn rules(schema: &Schema, data: &Value) -> Vec<String> {
    let errors = schema.check(data, &ValidationOptions::new()).unwrap();
    errors.into_iter().map(|error| error.rule.into_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepts_valid_data_and_names_the_rule_of_each_mutation((rule, good, bad) in sample()) {
        let schema = Schema::rule(&rule).unwrap();
        prop_assert_eq!(rules(&schema, &good), Vec::<String>::new());
        prop_assert_eq!(rules(&schema, &bad.0), vec![bad.1]);
    }

    #[test]
    fn the_jsonschema_crate_agrees((rule, good, bad) in sample(), other in value()) {
        let schema = Schema::rule(&rule).unwrap();
        let theirs = jsonschema::validator_for(&rule).unwrap();
        let exported = jsonschema::validator_for(&schema.to_json_schema()).unwrap();
        for data in [&good, &bad.0, &other] {
            let valid = rules(&schema, data).is_empty();
            prop_assert_eq!(valid, theirs.is_valid(data), "{} for {}", &rule, data);
            prop_assert_eq!(valid, exported.is_valid(data), "export of {} for {}", &rule, data);
        }
    }
}
