//! Tests of examples, which another validator checks.

use std::path::Path;

use jsonschema::Draft;

use super::*;

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Asserts that a schema accepts its example.
#[track_caller]
fn check_in(schemas: &Value, name: &str, schema: &Value, direction: Direction) {
    let example = Examples::new(schemas, direction).value(name, schema);
    let mut whole = schema.clone();
    if let Some(object) = whole.as_object_mut() {
        object.insert("components".to_owned(), json!({ "schemas": schemas }));
    }
    let validator =
        jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let validator = validator.build(&whole).unwrap();
    if let Err(error) = validator.validate(&example) {
        panic!("{name}: {error}\n{schema}\n{example}");
    }
}

#[track_caller]
fn check(schema: &Value, expected: &Value) {
    let example = Examples::new(&Value::Null, Direction::Request).value("x", schema);
    assert_eq!(example, *expected, "{schema}");
    check_in(&json!({}), "x", schema, Direction::Request);
}

#[test]
fn an_example_follows_the_rules_of_its_schema() {
    check(&json!({ "type": "string" }), &json!("text"));
    check(&json!({ "type": "string", "minLength": 9 }), &json!("texttextt"));
    check(&json!({ "type": "string", "maxLength": 2 }), &json!("te"));
    check(&json!({ "type": "string", "pattern": "^[A-Z]{3}-\\d{2}$" }), &json!("AAA-11"));
    check(&json!({ "type": "string", "format": "date" }), &json!("2026-01-31"));
    check(&json!({ "enum": ["tea", "coffee"] }), &json!("tea"));
    check(&json!({ "const": null }), &json!(null));
    check(&json!({ "type": "integer", "minimum": 5, "multipleOf": 4 }), &json!(8));
    check(&json!({ "type": "integer", "exclusiveMaximum": 0 }), &json!(-1));
    check(
        &json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.2 }),
        &json!(0.1),
    );
    check(&json!({ "type": ["null", "boolean"] }), &json!(true));
    check(
        &json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2 }),
        &json!([1, 1]),
    );
    check(
        &json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true }),
        &json!(["text", "text1"]),
    );
    check(
        &json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 2, "uniqueItems": true }),
        &json!(["a", "b"]),
    );
    check(&json!({ "type": "array", "maxItems": 0 }), &json!([]));
    check(
        &json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        &json!({ "key1": 1 }),
    );
    check(
        &json!({ "type": "object", "properties": { "a": { "const": 1 }, "b": {} }, "maxProperties": 1 }),
        &json!({ "a": 1 }),
    );
    check(
        &json!({ "oneOf": [{ "type": "null" }, { "type": "object", "properties": { "kind": { "const": "card" } } }] }),
        &json!({ "kind": "card" }),
    );
    check(
        &json!({ "allOf": [{ "properties": { "a": { "const": 1 } } }, { "properties": { "b": { "const": 2 } } }] }),
        &json!({ "a": 1, "b": 2 }),
    );
    check(&json!({ "type": "integer", "default": 20, "maximum": 50 }), &json!(20));
}

#[test]
fn a_direction_hides_members() {
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "integer", "readOnly": true },
        "password": { "type": "string", "writeOnly": true, "minLength": 8 },
    } });
    let of = |direction| Examples::new(&Value::Null, direction).value("", &schema);
    assert_eq!(of(Direction::Request), json!({ "password": "correct horse battery" }));
    assert_eq!(of(Direction::Response), json!({ "id": 1 }));
}

#[test]
fn recursive_schemas_end() {
    let schemas = json!({
        "Tree": { "type": "object", "required": ["parts"], "properties": {
            "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Tree" } },
            "next": { "$ref": "#/components/schemas/Tree" },
            "old": { "anyOf": [{ "$ref": "#/components/schemas/Tree" }, { "type": "null" }] },
        } },
        "Endless": { "type": "object", "required": ["next"], "properties": {
            "next": { "$ref": "#/components/schemas/Endless" },
        } },
    });
    let of = |name| Examples::new(&schemas, Direction::Request).value("", &schemas[name]);
    let inner = json!({ "parts": [], "old": null });
    assert_eq!(of("Tree"), json!({ "parts": [inner], "next": inner, "old": inner }));
    assert_eq!(of("Endless"), Value::Null);
}

/// Each body, parameter and response of a document has a valid example.
fn check_document(document: &Value) -> usize {
    let schemas = &document["components"]["schemas"];
    let mut checked = 0;
    let paths = document["paths"].as_object().unwrap();
    for (method, operation) in paths.values().flat_map(|item| item.as_object().unwrap()) {
        let id = operation["operationId"].as_str().unwrap_or(method);
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap();
            check_in(schemas, name, &parameter["schema"], Direction::Request);
            checked += 1;
        }
        let body = [(&operation["requestBody"], Direction::Request)];
        let responses = operation["responses"].as_object().into_iter().flatten();
        let responses = responses.map(|(_, response)| (response, Direction::Response));
        for (part, direction) in body.into_iter().chain(responses) {
            for (_, content) in part["content"].as_object().into_iter().flatten() {
                check_in(schemas, id, &content["schema"], direction);
                checked += 1;
            }
        }
    }
    for (name, schema) in schemas.as_object().unwrap() {
        check_in(schemas, name, schema, Direction::Request);
        check_in(schemas, name, schema, Direction::Response);
    }
    checked
}

#[test]
fn no_schema_of_the_shop_rejects_its_example() {
    assert!(check_document(&read("examples/shop/openapi.json")) > 100);
}

#[test]
fn no_schema_of_conduit_rejects_its_example() {
    let lock = read("examples/conduit/routes.lock");
    let text = lock["schemas"].to_string().replace("#/schemas/", "#/components/schemas/");
    let schemas: Value = serde_json::from_str(&text).unwrap();
    let all = schemas.as_object().unwrap();
    assert!(all.len() > 5);
    for (name, schema) in all {
        check_in(&schemas, name, schema, Direction::Request);
        check_in(&schemas, name, schema, Direction::Response);
    }
}
