//! The rules for serde's output: `reply_rule`, from the attributes for writing.
//!
//! serde_json writes each value. This crate and the crate `jsonschema` then
//! validate it with the response schema.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use stockade_validation::{HasSchema, Optional, Patch, Rule, Schema, Unchecked, ValidationOptions};

/// Checks that the written values are valid, and that the response document
/// matches.
#[track_caller]
fn check<T: HasSchema + Serialize>(values: &[T], expected: &Value) {
    let schema = T::reply_schema().unwrap();
    let document = schema.to_json_schema();
    assert_eq!(document, *expected, "{document}");
    let oracle = jsonschema::validator_for(&document).unwrap();
    for value in values {
        let written = serde_json::to_value(value).unwrap();
        let errors = schema.check(&written, &ValidationOptions::new()).unwrap();
        assert!(errors.is_empty(), "{written}: {errors:?}");
        assert!(oracle.is_valid(&written), "{written} for {document}");
    }
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
struct Names {
    user_name: String,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    both: u8,
    #[serde(rename(serialize = "user-name"))]
    crossed: bool,
    #[serde(rename = "same")]
    one: bool,
}

#[test]
fn uses_the_names_for_serialization() {
    let value = || Names { user_name: String::new(), both: 1, crossed: true, one: false };
    check(
        &[value()],
        &json!({
            "type": "object",
            "properties": {
                "userName": { "type": "string" },
                "out": { "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" },
                "user-name": { "type": "boolean" },
                "same": { "type": "boolean" },
            },
            "required": ["userName", "out", "user-name", "same"],
        }),
    );
    let read = Names::schema().unwrap().to_json_schema();
    let names: Vec<&String> = read["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["user-name", "in", "crossed", "same"]);
    assert_eq!(read["required"], json!(["user-name", "in", "crossed", "same"]));
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct FieldPresence {
    #[schema(trim, min_length = 1, default = "x")]
    text: String,
    maybe: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unless_null: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    twice: Option<Option<u8>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    list: Vec<bool>,
    #[serde(skip_serializing_if = "Patch::is_absent")]
    patch: Patch<bool>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    optional: Optional<bool>,
    #[serde(skip_serializing)]
    password: String,
    #[serde(skip_deserializing)]
    computed: bool,
    #[serde(skip)]
    cached: bool,
    any: Unchecked<Value>,
    #[schema(required)]
    needed: Option<bool>,
}

#[test]
fn a_field_is_required_unless_it_can_be_skipped() {
    let full = FieldPresence {
        text: "a".to_owned(),
        maybe: Some(1),
        unless_null: Some(1),
        twice: Some(None),
        list: vec![true],
        patch: Patch::Null,
        optional: Optional::Value(true),
        ..FieldPresence::default()
    };
    let bare = FieldPresence { text: "a".to_owned(), ..FieldPresence::default() };
    check(
        &[full, bare],
        &json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "minLength": 1 },
                "maybe": { "type": ["integer", "null"], "minimum": 0, "maximum": 255, "format": "uint8" },
                "unless_null": { "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" },
                "twice": { "type": ["integer", "null"], "minimum": 0, "maximum": 255, "format": "uint8" },
                "list": { "type": "array", "items": { "type": "boolean" } },
                "patch": { "type": ["boolean", "null"] },
                "optional": { "type": "boolean" },
                "computed": { "type": "boolean" },
                "any": {},
                "needed": { "type": ["boolean", "null"] },
            },
            "required": ["text", "maybe", "computed", "any", "needed"],
        }),
    );
    let read = FieldPresence::schema().unwrap().to_json_schema();
    assert_eq!(read.get("required"), Some(&json!(["needed"])));
    assert_eq!(read["properties"].get("computed"), None);
    assert_eq!(read["properties"].get("password"), Some(&json!({ "type": "string" })));
    assert_eq!(read["additionalProperties"], json!(false));
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn from_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Unchecked::<u64>::deserialize(deserializer).map(|number| number.0)
}

/// A type without a schema.
#[derive(Deserialize, Serialize, Default)]
struct Foreign(u8);

#[derive(Deserialize, Serialize, Schema)]
struct Functions {
    #[serde(serialize_with = "as_text")]
    any: u64,
    #[serde(serialize_with = "as_text")]
    #[schema(description = "A number.", kind = "string")]
    text: u64,
    #[serde(deserialize_with = "from_text")]
    number: u64,
    #[serde(skip_deserializing)]
    foreign: Foreign,
    #[schema(opaque)]
    opaque: Foreign,
}

#[test]
fn a_field_written_by_a_function_is_any_value() {
    let value = Functions { any: 1, text: 2, number: 3, foreign: Foreign(4), opaque: Foreign(5) };
    check(
        &[value],
        &json!({
            "type": "object",
            "properties": {
                "any": {},
                "text": { "description": "A number.", "type": "string" },
                "number": Value::clone(&u64::reply_schema().unwrap().to_json_schema()),
                "foreign": {},
                "opaque": {},
            },
            "required": ["any", "text", "number", "foreign", "opaque"],
        }),
    );
    let read = Functions::schema().unwrap().to_json_schema();
    assert_eq!(read["properties"]["number"], json!({}));
    assert_eq!(read["properties"]["any"], u64::schema().unwrap().to_json_schema());
}

#[derive(Serialize, Schema)]
struct Outer {
    id: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    maybe: Option<Other>,
    #[serde(flatten)]
    rest: BTreeMap<String, bool>,
}

#[derive(Clone, Serialize, Schema)]
#[serde(rename_all = "UPPERCASE")]
struct Inner {
    a: u8,
    #[serde(skip_serializing_if = "is_zero")]
    b: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

#[derive(Serialize, Schema)]
struct Other {
    other: bool,
}

#[test]
fn flattened_fields_follow_serialization() {
    let inner = Inner { a: 1, b: 0 };
    let full = Outer {
        id: 1,
        inner: inner.clone(),
        maybe: Some(Other { other: true }),
        rest: BTreeMap::from([("x".to_owned(), true)]),
    };
    let bare = Outer { id: 1, inner, maybe: None, rest: BTreeMap::new() };
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" });
    check(
        &[full, bare],
        &json!({
            "type": "object",
            "properties": { "id": byte, "A": byte, "B": byte, "other": { "type": "boolean" } },
            "required": ["id", "A"],
            "additionalProperties": { "type": "boolean" },
        }),
    );
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all(serialize = "lowercase"))]
enum Color {
    Red,
    #[serde(alias = "Blau")]
    Blue,
    #[serde(skip_serializing)]
    Old,
    #[serde(skip_deserializing)]
    New,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all_fields(serialize = "camelCase"))]
enum Tagged {
    Circle {
        max_radius: u8,
    },
    #[serde(rename(serialize = "box"))]
    Square(Square),
    Empty,
}

#[derive(Deserialize, Serialize, Schema)]
struct Square {
    #[serde(default)]
    side: u8,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Maybe(Option<bool>),
}

#[derive(Serialize, Schema)]
enum External {
    Unit,
    Pair(bool, #[serde(skip_serializing)] bool, bool),
    #[serde(serialize_with = "anything")]
    With(u8),
    Named {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<bool>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn anything<S: Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

#[test]
fn enums_follow_serialization() {
    check(
        &[Color::Red, Color::Blue, Color::New],
        &json!({
            "type": "string", "enum": ["red", "blue", "new"],
        }),
    );
    assert_eq!(
        Color::schema().unwrap().to_json_schema()["enum"],
        json!(["Red", "Blue", "Blau", "Old"])
    );
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" });
    check(
        &[Tagged::Circle { max_radius: 1 }, Tagged::Square(Square { side: 1 }), Tagged::Empty],
        &json!({
            "type": "object",
            "oneOf": [
                {
                    "type": "object",
                    "properties": { "kind": { "const": "Circle" }, "maxRadius": byte },
                    "required": ["kind", "maxRadius"],
                },
                {
                    "type": "object",
                    "properties": { "kind": { "const": "box" }, "side": byte },
                    "required": ["kind", "side"],
                },
                {
                    "type": "object",
                    "properties": { "kind": { "const": "Empty" } },
                    "required": ["kind"],
                },
            ],
        }),
    );
    check(
        &[Adjacent::Unit, Adjacent::Maybe(None), Adjacent::Maybe(Some(true))],
        &json!({
            "type": "object",
            "oneOf": [
                {
                    "type": "object",
                    "properties": { "t": { "const": "Unit" } },
                    "required": ["t"],
                },
                {
                    "type": "object",
                    "properties": {
                        "t": { "const": "Maybe" },
                        "c": { "type": ["boolean", "null"] },
                    },
                    "required": ["t", "c"],
                },
            ],
        }),
    );
    let schema = External::reply_schema().unwrap();
    for value in [
        External::Unit,
        External::Pair(true, true, false),
        External::With(1),
        External::Named { a: None },
    ] {
        let written = serde_json::to_value(&value).unwrap();
        let errors = schema.check(&written, &ValidationOptions::new()).unwrap();
        assert!(errors.is_empty(), "{written}: {errors:?}");
    }
}

#[derive(Clone, Deserialize, Serialize, Schema)]
#[serde(from = "u8", into = "String")]
struct Through(u8);

impl From<u8> for Through {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<Through> for String {
    fn from(through: Through) -> Self {
        through.0.to_string()
    }
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(try_from = "String")]
struct Email(String);

impl TryFrom<String> for Email {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(Self(text))
    }
}

// Only read. Its content does not have a schema.
#[derive(Deserialize, Schema)]
#[serde(from = "String")]
enum FromText {
    None,
    #[serde(untagged)]
    #[expect(dead_code, reason = "only the text counts")]
    Held(std::thread::ThreadId),
}

impl From<String> for FromText {
    fn from(_: String) -> Self {
        Self::None
    }
}

#[test]
fn a_type_written_as_another_has_its_schema() {
    check(&[Through(1)], &json!({ "type": "string" }));
    assert_eq!(Through::schema().unwrap().to_json_schema(), u8::schema().unwrap().to_json_schema());
    check(&[Email("a".to_owned())], &json!({ "type": "string" }));
    assert_eq!(FromText::schema().unwrap().to_json_schema(), json!({ "type": "string" }));
    let none = json!({ "type": "string", "enum": ["None"] });
    let replies = FromText::reply_schema().unwrap().to_json_schema();
    assert_eq!(replies, json!({ "anyOf": [none, {}] }));
}

// An output-only type, for responses.
#[derive(Serialize, Schema)]
#[serde(tag = "type", rename = "view")]
struct View {
    status: &'static str,
    steps: &'static [u8],
    text: Cow<'static, str>,
    list: Cow<'static, [bool]>,
    page: Page<Item>,
}

#[derive(Serialize, Schema)]
struct Page<T> {
    items: Vec<T>,
    next: Option<Box<Item>>,
}

#[derive(Serialize, Schema)]
struct Item {
    #[serde(default)]
    count: u8,
}

#[test]
fn a_serialize_only_type_has_a_schema() {
    let item = || Item { count: 1 };
    let value = View {
        status: "ok",
        steps: &[1],
        text: "a".into(),
        list: vec![true].into(),
        page: Page { items: vec![item()], next: Some(Box::new(item())) },
    };
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" });
    check(
        &[value],
        &json!({
            "type": "object",
            "properties": {
                "status": { "type": "string" },
                "steps": { "type": "array", "items": byte },
                "text": { "type": "string" },
                "list": { "type": "array", "items": { "type": "boolean" } },
                "page": { "$ref": "#/$defs/Page_Item" },
                "type": { "const": "view" },
            },
            "required": ["status", "steps", "text", "list", "page", "type"],
            "$defs": {
                "Page_Item": {
                    "type": "object",
                    "properties": {
                        "items": { "type": "array", "items": { "$ref": "#/$defs/Item" } },
                        "next": { "anyOf": [{ "$ref": "#/$defs/Item" }, { "type": "null" }] },
                    },
                    "required": ["items", "next"],
                },
                "Item": {
                    "type": "object",
                    "properties": { "count": byte },
                    "required": ["count"],
                },
            },
        }),
    );
}

/// A type with a hand-written rule. Presence is the same as for input, and
/// input processing is removed.
struct ByHand;

impl HasSchema for ByHand {
    fn rule() -> Rule {
        Rule::object([
            ("name", Rule::string().trim().min_length(2).required()),
            ("note", Rule::string().default("-").custom(|_, _, _| false)),
            ("price", Rule::number().in_replies(Rule::string()).title("Price")),
        ])
        .additional_properties(false)
    }
}

#[test]
fn a_handwritten_rule_applies_to_responses() {
    let schema = HashMap::<String, ByHand>::reply_schema().unwrap();
    assert_eq!(
        schema.to_json_schema()["additionalProperties"],
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 2 },
                "note": { "type": "string" },
                "price": { "title": "Price", "type": "string" },
            },
            "required": ["name"],
        })
    );
    let reply = json!({ "a": { "name": "ab", "note": "x", "price": "1", "later": 1 } });
    assert!(schema.check(&reply, &ValidationOptions::new()).unwrap().is_empty());
}
