//! Objects and arrays: order, paths, unknown keys, resulting data.

use serde_json::json;
use stockade_validation::{Schema, ValidationOptions};

use crate::support::{check, check_data, lines, validate};

#[test]
fn paths_name_the_location_of_the_value() {
    let schema = json!({
        "address": { "zip": { "type": "string" } },
        "tags": { "type": "array", "items": { "type": "string" } },
        "list": { "type": "array", "items": { "name": { "type": "string" } } },
    });
    let data = json!({ "address": { "zip": 1 }, "tags": [1, "a", 2], "list": [{ "name": 0 }] });
    let expected = [
        "address.zip: Expected string, got number (type)",
        "tags[0]: Expected string, got number (type)",
        "tags[2]: Expected string, got number (type)",
        "list[0].name: Expected string, got number (type)",
    ];
    check(&schema, &data, &expected);

    let list =
        json!({ "type": "array", "items": { "type": "array", "items": { "type": "null" } } });
    let expected =
        ["[0]: Expected array, got number (type)", "[1][0]: Expected null, got number (type)"];
    check(&list, &json!([7, [7]]), &expected);
    check(&json!({ "type": "string" }), &json!(1), &[": Expected string, got number (type)"]);
    check(&json!(false), &json!(1), &[": Value is not allowed (false)"]);
}

#[test]
fn errors_are_in_order() {
    let schema = json!({
        "type": "object",
        "required": ["z", "b"],
        "properties": {
            "a": { "type": "string", "required": true },
            "b": { "type": "string", "required": true },
            "c": { "type": "string" },
        },
        "additionalProperties": false,
        "maxProperties": 2,
    });
    let expected = [
        "z: Required field 'z' is missing (required)",
        "b: Required field 'b' is missing (required)",
        "a: Required field 'a' is missing (required)",
        "c: Expected string, got number (type)",
        "y: Unknown field 'y' (additionalProperties)",
        "x: Unknown field 'x' (additionalProperties)",
        ": Object must have at most 2 properties (maxProperties)",
    ];
    check(&schema, &json!({ "y": 1, "x": 1, "c": 1 }), &expected);
}

#[test]
fn the_list_form_of_required_accepts_null_and_empty_text() {
    let schema = json!({ "type": "object", "required": ["a", "b", "d"], "properties": {
        "a": {}, "b": { "type": "string" }, "d": { "default": 1 },
    } });
    check(&schema, &json!({ "a": null, "b": "" }), &[]);
    check(
        &schema,
        &json!({}),
        &[
            "a: Required field 'a' is missing (required)",
            "b: Required field 'b' is missing (required)",
        ],
    );
    // The field is required in both forms, but the error is reported once. The
    // list form accepts null, but the form in the field does not.
    let both = json!({ "required": ["a"], "properties": { "a": { "required": true } } });
    check(&both, &json!({}), &["a: Required field 'a' is missing (required)"]);
    check(&both, &json!({ "a": null }), &["a: Required field 'a' is missing (required)"]);
}

#[test]
fn messages_of_objects() {
    let schema = json!({
        "type": "object", "message": "Bad object", "required": ["a", "b"], "minProperties": 9,
        "properties": { "a": { "message": "A!" }, "b": {} }, "additionalProperties": false,
    });
    let expected = [
        "a: A! (required)",
        "b: Bad object (required)",
        "x: Unknown field 'x' (additionalProperties)",
        ": Bad object (minProperties)",
    ];
    check(&schema, &json!({ "x": 1 }), &expected);
}

#[test]
fn additional_properties_as_a_schema() {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" } },
        "additionalProperties": { "type": "string", "trim": true },
    });
    check(&schema, &json!({ "id": 1, "x": "a" }), &[]);
    check(&schema, &json!({ "id": 1, "x": 2 }), &["x: Expected string, got number (type)"]);
    check_data(
        &schema,
        &json!({ "b": " b ", "id": 1, "a": "a " }),
        &ValidationOptions::new(),
        &json!({ "id": 1, "b": "b", "a": "a" }),
    );
}

#[test]
fn skips_absent_optional_objects() {
    let schema = json!({ "address": { "zip": { "required": true, "type": "string" } } });
    check(&schema, &json!({}), &[]);
    check(
        &schema,
        &json!({ "address": {} }),
        &["address.zip: Required field 'zip' is missing (required)"],
    );
}

#[test]
fn the_output_is_in_schema_order_with_defaults() {
    let schema = json!({
        "b": { "type": "integer", "default": 7 },
        "a": { "type": "string", "trim": true },
        "c": { "x": { "default": null }, "y": { "type": "integer" } },
        "d": { "x": { "default": 1 } },
    });
    check_data(
        &schema,
        &json!({ "z": 1, "c": { "y": 2 }, "a": " a ", "y": 2 }),
        &ValidationOptions::new(),
        &json!({ "b": 7, "a": "a", "c": { "x": null, "y": 2 }, "z": 1, "y": 2 }),
    );
    // A default that breaks its own rule is inserted unchecked.
    let broken = json!({ "n": { "type": "integer", "default": "none", "minimum": 3 } });
    check_data(&broken, &json!({}), &ValidationOptions::new(), &json!({ "n": "none" }));
}

#[test]
fn more_properties_than_slots() {
    let properties: serde_json::Map<_, _> = (0..100)
        .map(|n| (format!("p{n}"), json!({ "type": "integer", "required": n == 99 })))
        .collect();
    let schema = Schema::fields(&properties.into()).unwrap();
    let errors = validate(&schema, &json!({ "p50": "x", "q": 1 }), &ValidationOptions::new());
    let expected = [
        "p50: Expected integer, got string (type)",
        "p99: Required field 'p99' is missing (required)",
    ];
    assert_eq!(lines(&errors.errors), expected);
}

#[test]
fn fields_can_have_names_of_keywords() {
    let schema = json!({
        "type": { "type": "string" },
        "items": { "type": "integer" },
        "default": { "type": "boolean" },
        "required": { "type": "boolean" },
    });
    check(&schema, &json!({ "type": "x", "items": 1, "default": true }), &[]);
    check(&schema, &json!({ "type": 1 }), &["type: Expected string, got number (type)"]);

    let only = json!({ "items": { "type": "integer" } });
    let as_rule = Schema::from_value(&only).unwrap();
    let as_fields = Schema::fields(&only).unwrap();
    let errors =
        |schema: &Schema, data| lines(&validate(schema, &data, &ValidationOptions::new()).errors);
    assert_eq!(errors(&as_rule, json!(["x"])), ["[0]: Expected integer, got string (type)"]);
    assert_eq!(
        errors(&as_fields, json!({ "items": "x" })),
        ["items: Expected integer, got string (type)"]
    );
}
