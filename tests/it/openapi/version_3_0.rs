//! OpenAPI 3.0 documents, converted from 3.1 and validated with the official
//! schema.

use serde_json::{Value, json};
use stockade::openapi::{OpenApiOptions, open_api, to_3_0};

use crate::support::command;

/// Returns the violations of the official schema.
fn breaches(document: &Value) -> Vec<String> {
    let schema: Value =
        serde_json::from_str(include_str!("../../vectors/openapi/3.0.json")).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors = validator.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Creates a document that contains one schema.
fn document_of(schema: &Value) -> Value {
    json!({
        "openapi": "3.1.1",
        "info": { "title": "Tea", "version": "1" },
        "paths": {},
        "components": { "schemas": { "It": schema, "Leaf": { "type": "string" } } },
    })
}

/// Converts a schema and compares the result. `lost` contains the keywords that
/// are reported as lost.
#[track_caller]
fn check(schema: Value, expected: Value, lost: &[&str]) {
    let (document, told) = to_3_0(&document_of(&schema));
    assert_eq!(document["components"]["schemas"]["It"], expected, "{schema}");
    assert_eq!(breaches(&document), [""; 0], "{document}");
    let base = "#/components/schemas/It/";
    let told: Vec<&str> = told
        .iter()
        .map(|line| line.strip_prefix(base).unwrap_or(line).split(": ").next().unwrap())
        .collect();
    assert_eq!(told, lost, "{schema}");
}

#[test]
fn null_is_a_flag() {
    let nothing = json!({ "type": "string", "nullable": true, "enum": [null] });
    let leaf = json!({ "$ref": "#/components/schemas/Leaf" });
    for (schema, expected) in [
        (json!({ "type": ["string", "null"] }), json!({ "type": "string", "nullable": true })),
        (
            json!({ "type": ["array", "null"], "items": true }),
            json!({ "type": "array", "nullable": true, "items": {} }),
        ),
        (json!({ "type": "null" }), nothing.clone()),
        (json!({ "type": ["null"] }), nothing.clone()),
        (json!({ "const": null }), nothing.clone()),
        (
            json!({ "anyOf": [leaf, { "type": "null" }], "description": "One" }),
            json!({ "description": "One", "nullable": true, "allOf": [leaf] }),
        ),
        (
            json!({ "oneOf": [leaf, { "type": "integer" }, { "type": "null" }] }),
            json!({ "nullable": true, "oneOf": [leaf, { "type": "integer" }] }),
        ),
        (json!({ "anyOf": [{ "type": "null" }] }), json!({ "allOf": [nothing] })),
        (
            json!({ "type": ["integer", "string", "null"], "minLength": 1 }),
            json!({ "minLength": 1, "anyOf": [
                { "type": "integer", "nullable": true }, { "type": "string", "nullable": true },
            ] }),
        ),
    ] {
        check(schema, expected, &[]);
    }
}

#[test]
fn converts_keywords_of_3_1_to_3_0() {
    let leaf = json!({ "$ref": "#/components/schemas/Leaf" });
    for (schema, expected) in [
        (json!({ "const": "tea" }), json!({ "enum": ["tea"] })),
        (json!({ "const": 1, "enum": [1, 2] }), json!({ "enum": [1] })),
        (
            json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 9.5 }),
            json!({ "minimum": 0, "exclusiveMinimum": true, "maximum": 9.5, "exclusiveMaximum": true }),
        ),
        (json!({ "minimum": 5, "exclusiveMinimum": 0 }), json!({ "minimum": 5 })),
        (
            json!({ "minimum": 0, "exclusiveMinimum": 0 }),
            json!({ "minimum": 0, "exclusiveMinimum": true }),
        ),
        (json!({ "maximum": 5, "exclusiveMaximum": 6 }), json!({ "maximum": 5 })),
        (json!({ "examples": ["Assam"] }), json!({ "example": "Assam" })),
        (json!({ "type": "array" }), json!({ "type": "array", "items": {} })),
        (json!({ "type": "object", "required": [] }), json!({ "type": "object" })),
        (
            json!({ "properties": { "const": true, "x-y": { "const": 1 } }, "additionalProperties": false }),
            json!({ "properties": { "const": {}, "x-y": { "enum": [1] } }, "additionalProperties": false }),
        ),
        (json!({ "not": false }), json!({ "not": { "not": {} } })),
        (json!({ "x-pattern": "a++", "$comment": "none" }), json!({ "x-pattern": "a++" })),
        (leaf.clone(), leaf.clone()),
        (
            json!({ "$ref": "#/components/schemas/Leaf", "description": "One" }),
            json!({ "description": "One", "allOf": [leaf] }),
        ),
        (
            json!({ "type": "string", "contentEncoding": "base64" }),
            json!({ "type": "string", "format": "byte" }),
        ),
    ] {
        check(schema, expected, &[]);
    }
}

#[test]
fn reports_losses_with_their_location() {
    check(
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "const": 1 }], "items": false }),
        json!({ "type": "array", "maxItems": 2, "items": { "anyOf": [{ "type": "string" }, { "enum": [1] }] } }),
        &["prefixItems"],
    );
    check(
        json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "string" } }),
        json!({ "items": { "type": "string" } }),
        &["prefixItems"],
    );
    check(
        json!({ "patternProperties": { "^a/": { "type": "string" } }, "additionalProperties": false }),
        json!({ "additionalProperties": { "type": "string" } }),
        &["patternProperties"],
    );
    check(json!({ "patternProperties": { "^a": {} } }), json!({}), &["patternProperties"]);
    check(json!({ "examples": [1, 2] }), json!({ "example": 1 }), &["examples"]);
    check(
        json!({ "properties": { "a/b": { "contains": {}, "if": {}, "then": {} } } }),
        json!({ "properties": { "a/b": {} } }),
        &["properties/a~1b/contains", "properties/a~1b/if", "properties/a~1b/then"],
    );
}

#[test]
fn moves_definitions_to_the_components() {
    let schema = json!({
        "$defs": { "Leaf": { "properties": { "next": { "$ref": "#/components/schemas/It/$defs/Leaf" } } } },
        "items": { "$ref": "#/components/schemas/It/$defs/Leaf" },
        "not": { "$ref": "#/$defs/Nothing" },
    });
    let (document, lost) = to_3_0(&document_of(&schema));
    let own = json!({ "$ref": "#/components/schemas/Leaf2" });
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["It"]["items"], own);
    assert_eq!(schemas["Leaf2"], json!({ "properties": { "next": own } }));
    assert_eq!(schemas["Leaf"], json!({ "type": "string" }));
    assert_eq!(lost, ["#/$defs/Nothing: the reference has no target"]);
    assert_eq!(breaches(&document), [""; 0]);
}

#[test]
fn converts_the_rest_of_a_document() {
    let text = json!({ "type": ["string", "null"] });
    let header = json!({ "x-batch": { "schema": text } });
    let content = json!({ "text/plain": { "schema": text, "example": "x" } });
    let operation = json!({
        "parameters": [
            { "name": "a", "in": "query", "schema": text },
            { "$ref": "#/components/parameters/P", "description": "again" },
        ],
        "requestBody": { "content": { "multipart/form-data": {
            "schema": text, "encoding": { "a": { "headers": header } },
        } } },
        "responses": { "2XX": { "description": "", "headers": header, "content": content }, "x-kept": { "post": 1 } },
        "callbacks": { "done": { "{$url}": { "post": { "requestBody": { "content": content } } } } },
        "security": [{ "key": ["clerk"], "oauth": ["read"] }, {}],
    });
    let document = json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Tea", "version": "1", "summary": "All of it",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "paths": {
            "/teas": { "summary": "Teas", "post": operation, "query": {} },
            "/again": { "$ref": "#/components/pathItems/again" },
        },
        "webhooks": { "sold": { "post": operation } },
        "components": {
            "parameters": { "P": { "name": "p", "in": "header", "schema": text } },
            "pathItems": { "again": { "get": {} } },
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
                "cert": { "type": "mutualTLS" },
                "oauth": { "type": "oauth2", "flows": {} },
            },
        },
    });
    let (converted, lost) = to_3_0(&document);
    assert_eq!(breaches(&converted), [""; 0], "{converted:#}");
    let shown = converted.to_string();
    assert!(
        !shown.contains("\"null\"") && shown.matches("\"nullable\":true").count() == 7,
        "{shown}"
    );
    assert_eq!(converted["paths"]["/teas"]["post"]["responses"]["x-kept"], json!({ "post": 1 }));
    let security = &converted["paths"]["/teas"]["post"]["security"];
    assert_eq!(*security, json!([{ "key": [], "oauth": ["read"] }, {}]));
    assert!(converted["paths"]["/again"]["get"]["responses"]["default"].is_object());
    let places: Vec<&str> = lost.iter().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [
        "#/info/summary",
        "#/info/license/identifier",
        "#/paths/~1teas/post/parameters/1/description",
        "#/paths/~1teas/post/security/0/key",
        "#/paths/~1teas/query",
        "#/webhooks",
        "#/components/securitySchemes/cert",
    ];
    assert_eq!(places, expected);
}

/// The conversion does not assume that any part of a document exists.
#[test]
fn any_value_can_be_converted() {
    for odd in [
        json!(null),
        json!([]),
        json!({ "components": [], "paths": 7, "info": "x", "security": {} }),
        json!({ "components": { "schemas": [{ "$ref": "#/webhooks/x" }], "securitySchemes": 1 } }),
        json!({ "paths": { "/": { "$ref": "#/components/pathItems/a" } },
            "components": { "pathItems": { "a": { "$ref": "#/components/pathItems/a" } } } }),
        json!({ "paths": { "/": { "get": { "$ref": 1, "responses": { "200": "x" }, "parameters": {} } } } }),
        json!({ "components": { "schemas": { "A": { "type": 7, "anyOf": {}, "items": 1, "examples": 1,
            "prefixItems": 2, "patternProperties": 3, "properties": [], "minimum": "x", "$ref": 5,
            "exclusiveMinimum": true, "allOf": { "a": 1 } } } } }),
    ] {
        let (converted, _) = to_3_0(&odd);
        assert!(!converted["paths"].is_null(), "{odd}");
    }
}

#[test]
fn the_document_of_the_shop_is_valid_3_0() {
    let shop = crate::shop::shop();
    let options = OpenApiOptions::new("Shop", "1.4.0");
    let document = open_api(shop.app(), &options).unwrap();
    let (converted, lost) = to_3_0(&document);
    assert_eq!(breaches(&converted), [""; 0]);
    assert_eq!(lost, [""; 0]);
    let paths = |document: &Value| document["paths"].as_object().unwrap().len();
    assert_eq!(paths(&converted), paths(&document));

    let ask = |line: &str| command(shop.app(), line.split(' ')).unwrap();
    let printed: Value = serde_json::from_str(&ask("openapi --3.0").unwrap()).unwrap();
    assert_eq!(printed["paths"], converted["paths"]);
    assert_eq!(printed["x-lost"], json!(["#/webhooks: OpenAPI 3.0 does not support webhooks"]));
    assert!(ask("openapi --3.1").is_err());
}
