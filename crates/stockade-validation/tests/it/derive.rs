//! `#[derive(Schema)]` on structs, and serde's attributes.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use stockade_validation::{HasSchema, ReadError, Rule, Schema, Unchecked, ValidationOptions};

use crate::support::{check_type, check_with};

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only read")]
struct User {
    user_name: String,
    #[serde(rename = "mail")]
    email: Option<String>,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    both: u8,
    #[serde(default)]
    age: u8,
    #[serde(skip)]
    cached: u8,
    #[serde(skip_deserializing, default)]
    computed: u8,
    r#type: bool,
}

#[test]
fn fields_follow_their_types_and_names() {
    let valid = json!({ "userName": "", "in": 1, "type": true });
    check_type::<User>(&valid, &[]);
    let all =
        json!({ "userName": "a", "mail": null, "in": 1, "age": 2, "type": false, "cached": "x" });
    check_type::<User>(&all, &[]);
    check_type::<User>(
        &json!({ "mail": 1, "in": 256, "age": -1 }),
        &[
            "userName: Required field 'userName' is missing (required)",
            "type: Required field 'type' is missing (required)",
            "mail: Expected string, got number (type)",
            "in: Number must be at most 255 (maximum)",
            "age: Number must be at least 0 (minimum)",
        ],
    );
    check_type::<User>(&json!([]), &[": Expected object, got array (type)"]);
}

#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Settings {
    color: String,
    size: u8,
}

#[test]
fn a_container_default_makes_all_fields_optional() {
    check_type::<Settings>(&json!({}), &[]);
    check_type::<Settings>(
        &json!({ "size": 1, "x": 1 }),
        &["x: Unknown field 'x' (additionalProperties)"],
    );
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Paging {
    page: u8,
    #[serde(flatten)]
    order: Order,
}

#[derive(Deserialize, Schema)]
#[serde(tag = "order")]
#[expect(dead_code, reason = "only read")]
enum Order {
    Name,
    Distance { from: String },
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Search {
    text: String,
    #[serde(flatten)]
    paging: Paging,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Open {
    id: u8,
    #[serde(flatten)]
    rest: HashMap<String, bool>,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct OpenToAll {
    id: u8,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

#[test]
fn flattened_fields_are_in_the_object() {
    check_type::<Search>(&json!({ "text": "", "page": 1, "order": "Name" }), &[]);
    check_type::<Search>(
        &json!({ "text": 1, "page": 1, "order": "Distance" }),
        &[
            "from: Required field 'from' is missing (required)",
            "text: Expected string, got number (type)",
        ],
    );
    check_type::<Open>(&json!({ "id": 1, "a": true }), &[]);
    check_type::<Open>(&json!({ "id": 1, "a": 1 }), &["a: Expected boolean, got number (type)"]);
    check_type::<OpenToAll>(&json!({ "id": 1, "a": [1] }), &[]);
}

#[derive(Deserialize, Schema)]
#[serde(transparent)]
struct Name {
    #[schema(min_length = 2)]
    #[expect(dead_code, reason = "only read")]
    text: Option<String>,
}

#[derive(Deserialize, Schema)]
struct Age(
    #[schema(maximum = 150)]
    #[expect(dead_code, reason = "only read")]
    u8,
);

#[derive(Deserialize, Schema)]
#[schema(kind = "email")]
struct Email(#[expect(dead_code, reason = "only read")] String);

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Point(f64, f64, #[serde(skip)] u8);

#[derive(Deserialize, Schema)]
struct Nothing;

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Shapes {
    name: Name,
    age: Age,
    email: Option<Email>,
    point: Point,
    nothing: Nothing,
}

#[test]
fn other_forms_of_structs() {
    check_type::<Shapes>(&json!({ "age": 1, "point": [1, 2], "nothing": null }), &[]);
    check_type::<Shapes>(
        &json!({ "name": "a", "age": 151, "email": "a", "point": [1, "2"], "nothing": 0 }),
        &[
            "name: String must be at least 2 characters (minLength)",
            "age: Number must be at most 150 (maximum)",
            "email: Invalid email format (email)",
            "point[1]: Expected number, got string (type)",
            "nothing: Expected null, got number (type)",
        ],
    );
}

fn seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Unchecked::<u64>::deserialize(deserializer).map(|seconds| seconds.0)
}

fn positive() -> Rule {
    Rule::integer().minimum(1)
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Custom {
    #[serde(deserialize_with = "seconds")]
    any: u64,
    #[serde(deserialize_with = "seconds")]
    #[schema(with = "positive")]
    checked: u64,
    #[schema(with = positive)]
    path: u8,
    #[serde(default)]
    foreign: Option<Unchecked<std::time::Duration>>,
}

/// A type without a schema.
#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only read")]
enum Id {
    Number(u64),
    Text(String),
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Opaque {
    #[schema(opaque)]
    id: Id,
    #[schema(opaque)]
    other: Option<Id>,
    #[serde(default)]
    #[schema(opaque, max_items = 1, description = "More of them.")]
    more: Vec<Id>,
    short: Option<ShortId>,
}

#[derive(Deserialize, Schema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only read")]
struct ShortId(#[schema(opaque, max_length = 2)] Id);

#[test]
fn serde_checks_opaque_fields() {
    check_type::<Opaque>(&json!({ "id": 1 }), &[]);
    check_type::<Opaque>(&json!({ "id": "a", "other": null, "more": ["b"], "short": 1 }), &[]);
    check_type::<Opaque>(
        &json!({ "more": [1, 2], "short": "abc" }),
        &[
            "id: Required field 'id' is missing (required)",
            "more: Array must contain at most 1 items (maxItems)",
            "short: String must be at most 2 characters (maxLength)",
        ],
    );
    let schema = Opaque::schema().unwrap();
    let error = schema.read_json::<Opaque>(br#"{ "id": true }"#, &ValidationOptions::new());
    assert!(matches!(error, Err(ReadError::Invalid(errors)) if errors[0].rule == "type"));
    let document = schema.to_json_schema();
    assert_eq!(document["properties"]["id"], json!({}));
}

#[derive(Deserialize, Schema)]
#[serde(try_from = "Vec<u8>")]
struct Bytes;

impl TryFrom<Vec<u8>> for Bytes {
    type Error = String;

    fn try_from(_: Vec<u8>) -> Result<Self, String> {
        Ok(Self)
    }
}

#[test]
fn fields_with_deserialize_functions_are_unchecked() {
    check_type::<Custom>(&json!({ "any": 1, "checked": 1, "path": 1 }), &[]);
    check_type::<Custom>(
        &json!({ "checked": 0, "path": 0 }),
        &[
            "any: Required field 'any' is missing (required)",
            "checked: Number must be at least 1 (minimum)",
            "path: Number must be at least 1 (minimum)",
        ],
    );
    // The schema accepts members that serde does not read.
    let data = json!({ "any": "x", "checked": 1, "path": 1, "foreign": "x" });
    check_with(&Custom::schema().unwrap(), &data, &[]);
}

#[test]
fn a_type_read_from_another_has_its_schema() {
    check_type::<Bytes>(&json!([1]), &[]);
    check_type::<Bytes>(&json!([256]), &["[0]: Number must be at most 255 (maximum)"]);
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Page<T> {
    items: Vec<T>,
}

#[derive(Schema)]
struct Fixed<T: Clone, const N: usize>([T; N])
where
    T: Copy;

#[test]
fn generic_types() {
    check_type::<Page<User>>(&json!({ "items": [] }), &[]);
    check_type::<Page<u8>>(
        &json!({ "items": [256] }),
        &["items[0]: Number must be at most 255 (maximum)"],
    );
    let types = <(Page<User>, Page<u8>, Fixed<u8, 3>)>::schema().unwrap();
    let document = types.to_json_schema();
    let names: Vec<&String> = document["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Page_User", "Page_u8", "Fixed_u8_3", "User"]);
}

#[derive(Deserialize, Schema)]
#[schema(name = "TreeNode")]
#[expect(dead_code, reason = "only read")]
struct Node {
    /// What it is worth.
    value: u8,
    #[serde(default)]
    children: Vec<Self>,
    best: Option<Box<Self>>,
}

#[derive(Deserialize, Schema)]
struct List(#[expect(dead_code, reason = "only read")] Vec<Self>);

#[derive(Deserialize, Schema)]
struct Itself(#[expect(dead_code, reason = "only read")] Box<Self>);

#[test]
fn recursive_types() {
    check_type::<Node>(
        &json!({ "value": 1, "children": [{ "value": 2, "best": { "value": 300 } }, {}] }),
        &[
            "children[0].best.value: Number must be at most 255 (maximum)",
            "children[1].value: Required field 'value' is missing (required)",
        ],
    );
    check_type::<List>(&json!([[], [[]]]), &[]);
    check_type::<List>(&json!([[1]]), &["[0][0]: Expected array, got number (type)"]);
    let error = Itself::schema().unwrap_err();
    assert_eq!(error.issues()[0].message(), "field `Itself`: the definition refers only to itself");
    assert_eq!(
        Node::schema().unwrap().to_json_schema(),
        json!({
            "$ref": "#/$defs/TreeNode",
            "$defs": {
                "TreeNode": {
                    "type": "object",
                    "properties": {
                        "value": {
                            "description": "What it is worth.",
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 255,
                        "format": "uint8",
                        },
                        "children": {
                            "type": "array",
                            "items": { "$ref": "#/$defs/TreeNode" },
                        },
                        "best": {
                            "anyOf": [{ "$ref": "#/$defs/TreeNode" }, { "type": "null" }],
                        },
                    },
                    "required": ["value"],
                },
            },
        })
    );
}

#[derive(Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Wrong {
    #[schema(with = wrong)]
    kind: u8,
    #[schema(min_length = LEAST, max_length = 1)]
    text: Option<String>,
}

const LEAST: usize = 2;

fn wrong() -> Rule {
    Rule::kind("byte")
}

#[test]
fn errors_name_the_line_of_the_field() {
    let error = Wrong::schema().unwrap_err();
    let places: Vec<_> = error
        .issues()
        .iter()
        .map(|mistake| (mistake.message(), mistake.location().unwrap()))
        .collect();
    let (message, place) = places[1];
    assert_eq!(message, "field `Wrong.text`: `minLength` 2 is above `maxLength` 1");
    assert!(place.file().ends_with("derive.rs"), "{place}");
    let line = include_str!("derive.rs").lines().nth(place.line() as usize - 1).unwrap();
    assert!(line.contains("#[schema(min_length = LEAST"), "{line}");
    let (message, _) = places[0];
    assert_eq!(message, "field `Wrong.kind`: unknown type `byte`, did you mean `date`?");
}
