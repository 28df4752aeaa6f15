//! Checks that generated schemas and values have the same result as with the
//! crate `jsonschema`.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stockade_validation::{Schema, ValidationOptions};

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "ab", "x1"]).prop_map(|name| name.to_owned())
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..8_i64).prop_map(Value::from),
        (-3..8_i64).prop_map(|halves| json!(halves as f64 / 2.0)),
        prop::sample::select(vec!["", "a", "ab", "abc", "x1"]).prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(names(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates keywords with values that contain no schema.
fn plain() -> impl Strategy<Value = Vec<(String, Value)>> {
    let kinds = prop::sample::select(vec![
        "string", "number", "integer", "boolean", "array", "object", "null",
    ]);
    let one = |keyword: &str, value: Value| vec![(keyword.to_owned(), value)];
    prop_oneof![
        kinds.prop_map(move |kind| one("type", kind.into())),
        vec(names(), 0..3).prop_map(move |mut names| {
            names.sort();
            names.dedup();
            one("required", names.into())
        }),
        values().prop_map(move |value| one("const", value)),
        (-2..5_i64).prop_map(move |bound| one("minimum", bound.into())),
        (0..4_u64).prop_map(move |bound| one("maxLength", bound.into())),
        (0..4_u64).prop_map(move |bound| one("minProperties", bound.into())),
        (0..4_u64).prop_map(move |bound| one("maxItems", bound.into())),
        (1..5_i64).prop_map(move |halves| one("multipleOf", json!(halves as f64 / 2.0))),
        (names(), vec(names(), 1..3)).prop_map(move |(name, mut names)| {
            names.sort();
            names.dedup();
            one("dependentRequired", json!({ name: names }))
        }),
        Just(one("uniqueItems", true.into())),
        prop::sample::select(vec!["#/$defs/a", "#/$defs/b"])
            .prop_map(move |to| one("$ref", to.into())),
    ]
}

fn schemas(has_references: bool) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        8 => vec(plain(), 1..3).prop_map(move |keywords| {
            let keywords = keywords.into_iter().flatten();
            Value::Object(keywords.filter(|(name, _)| has_references || name != "$ref").collect())
        }),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let map = || btree_map(names(), inner.clone(), 1..3);
        let object = |map: std::collections::BTreeMap<String, Value>| -> Value {
            Value::Object(map.into_iter().collect())
        };
        let part = prop_oneof![
            vec(inner.clone(), 1..3).prop_map(|all| json!({ "allOf": all })),
            vec(inner.clone(), 1..4).prop_map(|any| json!({ "anyOf": any })),
            vec(inner.clone(), 1..4).prop_map(|one| json!({ "oneOf": one })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
            map().prop_map(move |map| json!({ "properties": object(map) })),
            inner.clone().prop_map(|it| json!({ "additionalProperties": it })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({ "patternProperties": { "^a": a, "b$": b } })),
            inner.clone().prop_map(|it| json!({ "propertyNames": it })),
            map().prop_map(move |map| json!({ "dependentSchemas": object(map) })),
            inner.clone().prop_map(|it| json!({ "items": it })),
            vec(inner.clone(), 1..3).prop_map(|all| json!({ "prefixItems": all })),
            (inner.clone(), 0..3_u64, 0..4_u64)
                .prop_map(|(it, least, more)| json!({ "contains": it, "minContains": least, "maxContains": least + more })),
            inner.clone().prop_map(|it| json!({ "unevaluatedProperties": it })),
            inner.clone().prop_map(|it| json!({ "unevaluatedItems": it })),
        ];
        vec(part, 1..4).prop_map(|parts| {
            let parts = parts.into_iter().filter_map(|part| part.as_object().cloned());
            Value::Object(parts.flatten().collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn verdicts_are_the_same(
        schema in schemas(true),
        a in schemas(false),
        b in schemas(false),
        data in vec(values(), 8),
    ) {
        let mut schema = json!({ "allOf": [schema], "$defs": { "a": a, "b": b } });
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        // Some contradictions are configuration errors here, such as bounds
        // that no value satisfies.
        let Ok(ours) = Schema::rule(&schema) else { return Ok(()) };
        let exported = Schema::rule(&ours.to_json_schema()).unwrap();
        let peer = jsonschema::options().build(&schema).unwrap();
        for value in &data {
            let expected = peer.is_valid(value);
            for ours in [&ours, &exported] {
                let errors = ours.check(value, &ValidationOptions::new()).unwrap();
                prop_assert_eq!(errors.is_empty(), expected, "{} for {}: {:?}", schema, value, errors);
            }
            let text = value.to_string();
            let read = ours.read_json::<Value>(text.as_bytes(), &ValidationOptions::new());
            prop_assert_eq!(read.is_ok(), expected, "{} for {}", schema, value);
        }
    }
}
