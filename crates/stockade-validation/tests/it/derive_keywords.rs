//! The keywords of `#[schema(…)]`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use stockade_validation::{
    HasSchema, Rule, Schema, ValidationOptions, Verdict, validate_against_schema,
};

use crate::support::{check_type, check_with, lines};

#[derive(Deserialize, Schema)]
#[serde(default)]
#[derive(Default)]
struct Texts {
    #[schema(kind = "email")]
    email: Option<String>,
    #[schema(values = ["a", "b"])]
    values: Option<String>,
    #[schema(constant = "x")]
    constant: Option<String>,
    #[schema(pattern = "^[a-z]+$", message = "only letters")]
    pattern: Option<String>,
    #[schema(min_length = 2, max_length = LONGEST)]
    length: Option<String>,
    #[schema(min = 2, max = 3)]
    size: Option<String>,
    #[schema(format = "date-time")]
    format: Option<String>,
    #[schema(trim, min_length = 1)]
    trim: Option<String>,
    #[schema(transform = upper, values = ["A"])]
    transform: Option<String>,
    #[schema(custom = is_even)]
    custom: Option<u8>,
    #[schema(custom = |value, _, _| value != "bad")]
    closure: Option<String>,
}

const LONGEST: usize = 3;

fn upper(value: Value) -> Value {
    match value {
        Value::String(text) => text.to_uppercase().into(),
        other => other,
    }
}

fn is_even(value: &Value, field: &str, _root: &Value) -> Verdict {
    let is_even = value.as_u64().is_some_and(|number| number % 2 == 0);
    if is_even { Verdict::Valid } else { Verdict::Because(format!("{field} is odd")) }
}

#[test]
fn keywords_for_strings() {
    check_type::<Texts>(
        &json!({
            "email": "a@b.example", "values": "a", "constant": "x", "pattern": "a", "length": "ab",
            "size": "ab", "format": "2024-01-01T00:00:00Z", "trim": " a", "transform": "a",
            "custom": 2, "closure": "good",
        }),
        &[],
    );
    check_type::<Texts>(
        &json!({
            "email": "a", "values": "c", "constant": "y", "pattern": "1", "length": "abcd",
            "size": "a", "format": "x", "trim": " ", "transform": "b", "custom": 1,
            "closure": "bad",
        }),
        &[
            "email: Invalid email format (email)",
            r#"values: Must be one of: "a", "b" (enum)"#,
            r#"constant: Must be "x" (const)"#,
            "pattern: only letters (pattern)",
            "length: String must be at most 3 characters (maxLength)",
            "size: String must be at least 2 characters (min)",
            "format: Invalid date-time (format)",
            "trim: String must be at least 1 characters (minLength)",
            r#"transform: Must be one of: "A" (enum)"#,
            "custom: custom is odd (custom)",
            "closure: closure is invalid (custom)",
        ],
    );
}

#[derive(Deserialize, Schema)]
#[serde(default)]
#[derive(Default)]
struct Others {
    #[schema(minimum = -1, maximum = 1.5)]
    range: f64,
    #[schema(exclusive_minimum = 0, exclusive_maximum = 2)]
    open: i8,
    #[schema(min_items = 1, max_items = 2, unique_items, items(min_length = 2, trim))]
    list: Option<Vec<String>>,
    #[schema(min_properties = 1, max_properties = 1)]
    map: Option<HashMap<String, u8>>,
    #[schema(additional_properties = Rule::integer())]
    value: Option<Value>,
    #[schema(nullable)]
    nullable: Option<u8>,
    #[schema(items(items(maximum = 3)))]
    matrix: Vec<Vec<u8>>,
}

#[test]
fn keywords_for_other_types() {
    check_type::<Others>(
        &json!({
            "range": -1, "open": 1, "list": ["ab"], "map": { "a": 1 }, "value": { "a": 1 },
            "nullable": null, "matrix": [[1], []],
        }),
        &[],
    );
    check_type::<Others>(
        &json!({
            "range": -2, "open": 2, "list": ["ab", "c "], "map": {}, "value": { "a": "b" },
            "matrix": [[4]],
        }),
        &[
            "range: Number must be at least -1 (minimum)",
            "open: Number must be less than 2 (exclusiveMaximum)",
            "list[1]: String must be at least 2 characters (minLength)",
            "map: Object must have at least 1 properties (minProperties)",
            "value.a: Expected integer, got string (type)",
            "matrix[0][0]: Number must be at most 3 (maximum)",
        ],
    );
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct FieldPresence {
    #[schema(required)]
    required: String,
    present: String,
    #[schema(required)]
    child: Option<Child>,
    #[serde(default)]
    #[schema(default = "reader")]
    role: String,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Child {
    #[schema(trim)]
    name: String,
}

#[test]
fn required_rejects_empty_text() {
    let child = json!({ "name": "a" });
    check_type::<FieldPresence>(&json!({ "required": "a", "present": "", "child": child }), &[]);
    check_type::<FieldPresence>(
        &json!({ "required": "", "present": "" }),
        &[
            "required: Required field 'required' is missing (required)",
            "child: Required field 'child' is missing (required)",
        ],
    );
    check_type::<FieldPresence>(
        &json!({ "child": {} }),
        &[
            "present: Required field 'present' is missing (required)",
            "required: Required field 'required' is missing (required)",
            "child.name: Required field 'name' is missing (required)",
        ],
    );
}

#[test]
fn applies_defaults_and_trim() {
    let schema = FieldPresence::schema().unwrap();
    let data = json!({ "required": "a", "present": "b", "child": { "name": " c " } });
    let outcome = validate_against_schema(&schema, data, &ValidationOptions::new()).unwrap();
    assert_eq!(lines(&outcome.errors), Vec::<String>::new());
    assert_eq!(outcome.data["child"]["name"], "c");
    assert_eq!(outcome.data["role"], "reader");
}

#[derive(Debug, Deserialize, PartialEq, Schema)]
struct Lists {
    #[schema(default = [])]
    empty: Vec<String>,
    #[schema(default = ["a", "b"])]
    texts: Vec<String>,
    #[schema(default = [[], [1, 2]])]
    nested: Vec<Vec<u8>>,
    #[schema(default = [1, "a", []], example = [], example = [7])]
    mixed: Vec<Value>,
    #[schema(constant = [])]
    none: Option<Vec<u8>>,
    #[schema(values = [[], [3]], default = [3])]
    either: Vec<u8>,
}

#[test]
fn lists_can_be_keyword_values() {
    let schema = Lists::schema().unwrap();
    let options = ValidationOptions::new();
    let read = schema.read_json::<Lists>(b"{}", &options).unwrap();
    let expected = Lists {
        empty: vec![],
        texts: vec!["a".to_owned(), "b".to_owned()],
        nested: vec![vec![], vec![1, 2]],
        mixed: vec![json!(1), json!("a"), json!([])],
        none: None,
        either: vec![3],
    };
    assert_eq!(read, expected);
    let document = schema.to_json_schema();
    assert_eq!(document["properties"]["mixed"]["examples"], json!([[], [7]]));
    check_with(&schema, &json!({ "none": [], "either": [] }), &[]);
    check_with(
        &schema,
        &json!({ "none": [1], "either": [4] }),
        &["none: Must be [] (const)", "either: Must be one of: [], [3] (enum)"],
    );
}

/// Words for people,
/// in two lines.
#[derive(Schema)]
#[schema(title = "T", example = json!({ "a": 1 }), name = "Described")]
#[schema(custom = |_, _, _| true, additional_properties = false, max_properties = 5)]
#[expect(dead_code, reason = "only its schema is used")]
struct Words {
    /// The doc comment.
    #[schema(example = 1, example = 2, deprecated)]
    a: u8,
    /// Not this.
    #[schema(description = "This.", title = "B")]
    b: bool,
    #[deprecated]
    #[schema(default = true)]
    c: bool,
    #[schema(read_only)]
    d: Option<Handle>,
    #[schema(write_only)]
    e: Option<bool>,
}

#[test]
fn exports_titles_descriptions_and_examples() {
    let document = Words::schema().unwrap().to_json_schema();
    assert_eq!(
        document,
        json!({
            "title": "T",
            "examples": [{ "a": 1 }],
            "description": "Words for people,\nin two lines.",
            "type": "object",
            "properties": {
                "a": {
                    "examples": [1, 2],
                    "deprecated": true,
                    "description": "The doc comment.",
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 255,
                "format": "uint8",
                },
                "b": { "description": "This.", "title": "B", "type": "boolean" },
                "c": { "type": "boolean", "deprecated": true, "default": true },
                "d": {
                    "readOnly": true,
                    "anyOf": [{ "$ref": "#/$defs/Handle" }, { "type": "null" }],
                },
                "e": { "type": ["boolean", "null"], "writeOnly": true },
            },
            "required": ["a", "b"],
            "additionalProperties": false,
            "maxProperties": 5,
            "$defs": { "Handle": { "type": "string", "maxLength": 3 } },
        })
    );
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Handle(#[schema(trim, max_length = 3)] String);

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Account {
    #[schema(required, message = "bad nick")]
    nick: Handle,
}

// Regression: the type's errors did not use the message of the field, and white
// space passed as a text.
#[test]
fn message_and_required_apply_to_the_type_of_the_field() {
    check_type::<Account>(&json!({ "nick": "ab" }), &[]);
    check_type::<Account>(&json!({ "nick": "abcd" }), &["nick: bad nick (maxLength)"]);
    check_type::<Account>(&json!({ "nick": "  " }), &["nick: bad nick (required)"]);
    check_type::<Account>(&json!({ "nick": 1 }), &["nick: bad nick (type)"]);
}
