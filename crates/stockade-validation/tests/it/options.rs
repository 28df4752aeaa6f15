//! The validation options.

use serde_json::{Value, json};
use stockade_validation::{Schema, ValidationOptions};

use crate::support::{check_data, lines, validate};

#[track_caller]
fn check(schema: &Value, data: &Value, options: &ValidationOptions, expected: &[&str]) {
    let schema = Schema::from_value(schema).unwrap();
    assert_eq!(lines(&validate(&schema, data, options).errors), expected, "{data}");
}

#[test]
fn abort_early_gives_one_error() {
    let options = ValidationOptions::new().abort_early(true);
    let schema = json!({
        "a": { "type": "string", "minLength": 3, "pattern": "x" },
        "b": { "type": "array", "items": { "type": "null" } },
    });
    check(
        &schema,
        &json!({ "a": "q", "b": [1, 2] }),
        &options,
        &["a: String must be at least 3 characters (minLength)"],
    );
    check(&schema, &json!({ "b": [1, 2] }), &options, &["b[0]: Expected null, got number (type)"]);
    check(
        &json!({ "required": ["a", "b"] }),
        &json!({}),
        &options,
        &["a: Required field 'a' is missing (required)"],
    );
    let closed = json!({ "properties": {}, "additionalProperties": false });
    check(
        &closed,
        &json!({ "a": 1, "b": 1 }),
        &options,
        &["a: Unknown field 'a' (additionalProperties)"],
    );
}

#[test]
fn strip_unknown_removes_at_every_level_that_lists_properties() {
    let options = ValidationOptions::new().strip_unknown(true);
    let schema = json!({
        "type": "object",
        "properties": {
            "in": { "type": "object", "properties": { "a": {} }, "additionalProperties": false },
            "free": { "type": "object" },
            "map": { "type": "object", "additionalProperties": { "type": "integer" } },
        },
    });
    check_data(
        &schema,
        &json!({ "x": 1, "in": { "y": 1, "a": 1 }, "free": { "z": 1 }, "map": { "k": 1 } }),
        &options,
        &json!({ "in": { "a": 1 }, "free": { "z": 1 }, "map": { "k": 1 } }),
    );
    // The input determines the counts.
    let counted = json!({ "properties": { "a": {} }, "maxProperties": 1 });
    check(
        &counted,
        &json!({ "a": 1, "b": 1 }),
        &options,
        &[": Object must have at most 1 properties (maxProperties)"],
    );
}

#[test]
fn allow_unknown_overrides_the_schema() {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": { "in": { "a": {} }, "free": { "type": "object" } },
    });
    let data = json!({ "in": { "y": 1 }, "free": { "z": 1 }, "x": 1 });
    let refused = "x: Unknown field 'x' (additionalProperties)";
    check(&schema, &data, &ValidationOptions::new(), &[refused]);
    check(&schema, &data, &ValidationOptions::new().allow_unknown(true), &[]);
    let expected = [
        "in.y: Unknown field 'y' (additionalProperties)",
        "free.z: Unknown field 'z' (additionalProperties)",
        refused,
    ];
    check(&schema, &data, &ValidationOptions::new().allow_unknown(false), &expected);
}

#[test]
fn allow_unknown_false_rejects_at_every_level() {
    let options = ValidationOptions::new().allow_unknown(false);
    let refused =
        |field: &str, name: &str| format!("{field}: Unknown field '{name}' (additionalProperties)");
    for (schema, refuses) in [
        (json!({ "type": "object" }), true),
        (json!({ "type": ["object", "null"] }), true),
        (json!({ "type": "object", "nullable": true, "minProperties": 1 }), true),
        // Other types: `{"v": {"$ne": 1}}` is not a value for a pattern.
        (json!({ "pattern": "^a" }), true),
        (json!({ "type": "object", "required": ["k"] }), true),
        (json!({ "properties": {} }), true),
        (json!({ "properties": {}, "additionalProperties": false }), true),
        // The keyword in the schema takes precedence.
        (json!({ "type": "object", "additionalProperties": true }), false),
        (json!({ "properties": { "a": {} }, "additionalProperties": true }), false),
        (json!({ "type": "object", "additionalProperties": {} }), false),
        // The value is either not described at all or described completely.
        (json!({}), false),
        (json!(true), false),
        (json!({ "required": true }), false),
        (json!({ "const": { "k": 1 }, "type": "object" }), false),
        (json!({ "enum": [{ "k": 1 }, 2] }), false),
    ] {
        let expected = |field: &str| if refuses { vec![refused(field, "k")] } else { vec![] };
        let inner = json!({ "type": "object", "properties": { "v": schema } });
        let items = json!({ "type": "array", "items": schema });
        let others = json!({ "type": "object", "additionalProperties": schema });
        for (schema, data, field) in [
            (&schema, json!({ "k": 1 }), "k"),
            (&inner, json!({ "v": { "k": 1 } }), "v.k"),
            (&items, json!([{ "k": 1 }]), "[0].k"),
            (&others, json!({ "v": { "k": 1 } }), "v.k"),
        ] {
            let compiled = Schema::rule(schema).unwrap();
            let outcome = validate(&compiled, &data, &options);
            assert_eq!(lines(&outcome.errors), expected(field), "{schema}");
            let read = compiled.read_json::<Value>(data.to_string().as_bytes(), &options);
            assert_eq!(read.is_ok(), !refuses, "{schema}");
            // By default, unknown keys remain.
            let closed = schema.to_string().contains("\"additionalProperties\":false");
            let kept =
                compiled.read_json::<Value>(data.to_string().as_bytes(), &Default::default());
            assert_eq!(kept.ok(), (!closed).then_some(data), "{schema}");
        }
    }
}

#[test]
fn coerce_types_reads_numbers_and_booleans() {
    let options = ValidationOptions::new().coerce_types(true);
    for (rule, text, expected) in [
        (json!({ "type": "number" }), " 1.5 ", json!(1.5)),
        (json!({ "type": "number" }), "-2e2", json!(-200.0)),
        (json!({ "type": "integer" }), "9007199254740993", json!(9_007_199_254_740_993_u64)),
        (json!({ "type": "integer" }), "3.0", json!(3)),
        (json!({ "type": "boolean" }), "true", json!(true)),
        (json!({ "type": ["integer", "boolean"] }), "false", json!(false)),
        (json!({ "type": ["integer", "null"], "trim": true }), " 7", json!(7)),
        (json!({ "type": ["integer", "string"] }), "7", json!("7")),
        (json!({}), "7", json!("7")),
    ] {
        let schema = json!({ "v": rule, "list": { "items": rule } });
        let data = json!({ "v": text, "list": [text] });
        check_data(&schema, &data, &options, &json!({ "v": expected, "list": [expected] }));
    }
    for (kind, text) in [
        ("number", "0x10"),
        ("number", ""),
        ("number", "1e400"),
        ("number", "NaN"),
        ("boolean", "True"),
        ("boolean", " true"),
        ("boolean", "1"),
        ("null", "null"),
        ("null", ""),
        ("array", "[]"),
        ("array", "a"),
    ] {
        let expected = format!("v: Expected {kind}, got string (type)");
        check(&json!({ "v": { "type": kind } }), &json!({ "v": text }), &options, &[&expected]);
    }
    check(
        &json!({ "v": { "type": "integer" } }),
        &json!({ "v": "1.5" }),
        &options,
        &["v: Expected integer, got number (type)"],
    );
    check(
        &json!({ "v": { "type": "integer", "minimum": 9 } }),
        &json!({ "v": "1" }),
        &options,
        &["v: Number must be at least 9 (minimum)"],
    );
    let off = ValidationOptions::new();
    check(
        &json!({ "v": { "type": "integer" } }),
        &json!({ "v": "1" }),
        &off,
        &["v: Expected integer, got string (type)"],
    );
}

#[test]
fn a_query_field_of_type_array_accepts_one_value() {
    let schema = json!({
        "ids": { "type": "array", "items": { "type": "integer" }, "minItems": 1 },
        "deep": { "in": { "type": "array" } },
    });
    let options = ValidationOptions::query();
    check_data(&schema, &json!({ "ids": "7" }), &options, &json!({ "ids": [7] }));
    check_data(&schema, &json!({ "ids": ["7", "8"] }), &options, &json!({ "ids": [7, 8] }));
    check(
        &schema,
        &json!({ "ids": "x" }),
        &options,
        &["ids[0]: Expected integer, got string (type)"],
    );
    check(
        &schema,
        &json!({ "deep": { "in": "x" } }),
        &options,
        &["deep.in: Expected array, got string (type)"],
    );
}

#[test]
fn reads_options_with_the_names_of_the_specification() {
    let options: ValidationOptions =
        serde_json::from_value(json!({ "abortEarly": true, "allowUnknown": false })).unwrap();
    assert_eq!(options, ValidationOptions::new().abort_early(true).allow_unknown(false));
    assert!(serde_json::from_value::<ValidationOptions>(json!({ "abort": true })).is_err());
}
