//! Rules that every document must satisfy.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use stockade::prelude::Value;
use stockade::serde_json;

static OFFICIAL: LazyLock<Validator> = LazyLock::new(|| {
    let schema = include_str!("../../../openapi/official/openapi-3.1.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
});

/// Checks a document against the official schema.
///
/// # Errors
///
/// Returns an error if the document or one of its schemas is invalid, if two
/// operations share a name, or if a reference does not resolve.
pub fn validate(document: &Value) -> Result<(), String> {
    let mistakes = OFFICIAL.iter_errors(document);
    let mut mistakes: Vec<String> =
        mistakes.map(|error| format!("{}: {error}", error.instance_path())).collect();
    let mut names = BTreeSet::new();
    visit(document, &mut |key, value| match (key, value) {
        ("operationId", Value::String(name)) if !names.insert(name.clone()) => {
            mistakes.push(format!("two operations are {name}"));
        }
        ("$ref", Value::String(place)) => {
            let place = place.strip_prefix('#').filter(|place| document.pointer(place).is_some());
            if place.is_none() {
                mistakes.push(format!("{value} leads nowhere"));
            }
        }
        ("schema", schema) => mistakes.extend(mistake_of(schema)),
        ("schemas", Value::Object(schemas)) => {
            mistakes.extend(schemas.values().filter_map(mistake_of));
        }
        _ => {}
    });
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

fn mistake_of(schema: &Value) -> Option<String> {
    let outcome = jsonschema::draft202012::meta::validate(schema);
    outcome.err().map(|error| format!("{schema} is no schema: {error}"))
}

/// Calls `look` for each member of each object.
fn visit(value: &Value, look: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                look(key, value);
                visit(value, look);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}

#[test]
fn detects_invalid_documents() {
    let document = |paths: &str| {
        let text = format!(
            r#"{{ "openapi": "3.1.1", "info": {{ "title": "x", "version": "1" }}, "paths": {paths} }}"#
        );
        validate(&serde_json::from_str(&text).unwrap())
    };
    let get = |operation: &str| document(&format!(r#"{{ "/x": {{ "get": {operation} }} }}"#));
    let answer = |schema: &str| {
        get(&format!(
            r#"{{ "responses": {{ "200": {{ "description": "x",
                "content": {{ "text/plain": {{ "schema": {schema} }} }} }} }} }}"#
        ))
    };
    assert_eq!(document("{}"), Ok(()));
    assert_eq!(answer(r#"{ "type": "string" }"#), Ok(()));
    assert!(get(r#"{ "responses": { "200": {} } }"#).is_err());
    assert!(answer(r#"{ "type": "text" }"#).is_err());
    assert!(answer(r##"{ "$ref": "#/components/schemas/Y" }"##).is_err());
    let twice = r#"{ "/x": { "get": { "operationId": "a" }, "put": { "operationId": "a" } } }"#;
    assert_eq!(document(twice), Err("two operations are a".to_owned()));
}
