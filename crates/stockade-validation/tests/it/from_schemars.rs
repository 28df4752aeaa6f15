//! Schemas from the crate schemars.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use stockade_validation::{Rule, Schema, ValidationOptions};

use crate::support::check_with;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct User {
    /// What people say.
    #[schemars(length(min = 2), regex(pattern = "^[A-Z]"))]
    user_name: String,
    #[schemars(email)]
    email: Option<String>,
    age: Option<u8>,
    #[serde(default)]
    big: u64,
    score: Option<f32>,
    #[serde(default)]
    tags: BTreeSet<String>,
    pair: Option<(u8, String)>,
    initial: Option<char>,
    color: Option<Color>,
    map: Option<BTreeMap<String, i16>>,
    any: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    /// Like blood.
    Red,
    Blue,
}

#[test]
fn structs() {
    let schema = Schema::from_schemars::<User>().unwrap();
    let all = json!({
        "userName": "Ada", "email": "a@b.example", "age": 1, "big": 1, "score": 0.5,
        "tags": ["a"], "pair": [1, "a"], "initial": "A", "color": "red", "map": { "a": 1 },
        "any": [1],
    });
    for data in [
        json!({ "userName": "Ada" }),
        json!({ "userName": "Ada", "email": null, "age": null, "color": null, "pair": null }),
        all,
    ] {
        check_with(&schema, &data, &[]);
        assert!(serde_json::from_value::<User>(data).is_ok());
    }
    check_with(
        &schema,
        &json!({
            "userName": "a", "email": "a", "age": 256, "big": -1, "tags": ["a", "a"],
            "pair": [1], "initial": "ab", "color": "green", "map": { "a": 40000 }, "x": 1,
        }),
        &[
            "userName: String must be at least 2 characters (minLength)",
            "userName: Invalid format (pattern)",
            "email: Invalid email format (format)",
            "age: Number must be at most 255 (maximum)",
            "big: Number must be at least 0 (minimum)",
            "tags: Items must be unique (uniqueItems)",
            "pair: Array must contain at least 2 items (minItems)",
            "initial: String must be at most 1 characters (maxLength)",
            // schemars puts the variants without a doc comment first.
            r#"color: Must be one of: "blue", "red" (enum)"#,
            "map.a: Number must be at most 32767 (maximum)",
            "x: Unknown field 'x' (additionalProperties)",
        ],
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Node {
    value: i32,
    #[serde(default)]
    children: Vec<Self>,
    best: Option<Box<Self>>,
}

#[test]
fn recursive_types() {
    let schema = Schema::from_schemars::<Node>().unwrap();
    check_with(
        &schema,
        &json!({ "value": 1, "children": [{ "value": 2, "best": { "value": "x" } }, {}] }),
        &[
            "children[0].best.value: Expected integer, got string (type)",
            "children[1].value: Required field 'value' is missing (required)",
        ],
    );
    let document = schema.to_json_schema();
    assert_eq!(document["properties"]["children"]["items"], json!({ "$ref": "#/$defs/Node" }));
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only read")]
enum Internal {
    Unit,
    Newtype(Node),
    Struct { a: u8 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
#[expect(dead_code, reason = "only read")]
enum Adjacent {
    Unit,
    Newtype(u8),
    Struct { a: u8 },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
enum External {
    Unit,
    /// Another.
    Other,
    Newtype(Node),
    Struct {
        a: u8,
    },
}

#[track_caller]
fn agree<T: JsonSchema + serde::de::DeserializeOwned>(values: &[Value]) {
    let schema = Schema::from_schemars::<T>().unwrap();
    for value in values {
        let errors = schema.check(value, &ValidationOptions::new()).unwrap();
        let read = serde_json::from_value::<T>(value.clone());
        assert_eq!(errors.is_empty(), read.is_ok(), "{value}: {errors:?}");
    }
}

#[test]
fn enums() {
    agree::<Internal>(&[
        json!({ "kind": "Unit" }),
        json!({ "kind": "Newtype", "value": 1 }),
        json!({ "kind": "Newtype", "value": "1" }),
        json!({ "kind": "Newtype" }),
        json!({ "kind": "Struct", "a": 1 }),
        json!({ "kind": "Struct" }),
        json!({ "kind": "x" }),
        json!({}),
    ]);
    agree::<Adjacent>(&[
        json!({ "t": "Unit" }),
        json!({ "t": "Newtype", "c": 1 }),
        json!({ "t": "Newtype" }),
        json!({ "t": "Struct", "c": { "a": 1 } }),
        json!({ "t": "Struct", "c": {} }),
        json!({ "t": "x" }),
    ]);
    agree::<External>(&[
        json!("Unit"),
        json!("Other"),
        json!({ "Newtype": { "value": 1 } }),
        json!({ "Newtype": { "value": "1" } }),
        json!({ "Struct": { "a": 1 } }),
        json!({ "Struct": {} }),
        json!("x"),
        json!({ "x": 1 }),
        json!({}),
    ]);
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Flat {
    id: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    kind: Internal,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Inner {
    name: String,
}

#[test]
fn flattened_fields() {
    agree::<Flat>(&[
        json!({ "id": 1, "name": "a", "kind": "Unit" }),
        json!({ "id": 1, "name": 1, "kind": "Unit" }),
        json!({ "id": 1, "name": "a", "kind": "Struct" }),
        json!({ "id": 1, "name": "a", "kind": "Struct", "a": 1 }),
        json!({ "name": "a", "kind": "Unit" }),
    ]);
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Untagged {
    A(u8),
    B(String),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Refused {
    a: Untagged,
    #[schemars(extend("inventedKeyword" = 2))]
    b: u8,
    address: std::net::IpAddr,
}

#[test]
fn untagged_enums_are_alternatives() {
    let schema = Schema::from_schemars::<Untagged>().unwrap();
    check_with(&schema, &json!(7), &[]);
    check_with(&schema, &json!("a"), &[]);
    check_with(&schema, &json!(300), &[": Number must be at most 255 (maximum)"]);
    check_with(&schema, &json!(true), &[": Expected integer or string, got boolean (type)"]);
}

#[test]
fn rejects_unsupported_keywords_with_their_path() {
    let error = Schema::from_schemars::<Refused>().unwrap_err();
    let line = line!() - 1;
    let messages: Vec<_> = error.issues().iter().map(|mistake| mistake.message()).collect();
    assert_eq!(
        messages,
        [
            "field `b`: JSON Schema keyword `inventedKeyword` is not supported",
            "field `address`: unknown format `ip`",
        ]
    );
    assert_eq!(error.issues()[0].location().unwrap().line(), line);
}

#[test]
fn a_rule_can_be_part_of_another_rule() {
    let schema = Rule::array(Rule::from_schemars::<Node>()).build().unwrap();
    check_with(&schema, &json!([{ "value": 1 }]), &[]);
    check_with(
        &schema,
        &json!([{ "value": 1, "children": [1] }]),
        &["[0].children[0]: Expected object, got number (type)"],
    );
}
