//! `#[derive(Schema)]` on enums, in every representation of serde.

use serde::Deserialize;
use serde_json::{Value, json};
use stockade_validation::{HasSchema, Schema, Unchecked, ValidationOptions};

use crate::support::check_type;

#[derive(Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Color {
    DarkRed,
    #[serde(rename = "bleu", alias = "blue")]
    Blue,
    #[serde(skip)]
    #[expect(dead_code, reason = "not read")]
    Hidden,
}

#[test]
fn variants_without_fields_are_names() {
    for name in ["dark-red", "bleu", "blue"] {
        check_type::<Color>(&json!(name), &[]);
    }
    check_type::<Color>(
        &json!("hidden"),
        &[r#": Must be one of: "dark-red", "bleu", "blue" (enum)"#],
    );
    check_type::<Color>(&json!(1), &[": Expected string, got number (type)"]);
    assert_eq!(
        Color::schema().unwrap().to_json_schema(),
        json!({ "type": "string", "enum": ["dark-red", "bleu", "blue"] })
    );
}

#[derive(Deserialize, Schema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
enum Shape {
    /// A round one.
    Circle {
        max_radius: f64,
    },
    #[serde(alias = "quad")]
    Square(Square),
    #[serde(rename_all = "UPPERCASE")]
    Line {
        from: u8,
    },
    Empty,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only read")]
struct Square {
    side: f64,
    inner: Option<Box<Shape>>,
}

#[test]
fn an_internal_tag() {
    check_type::<Shape>(&json!({ "kind": "circle", "maxRadius": 1 }), &[]);
    check_type::<Shape>(&json!({ "kind": "line", "FROM": 1 }), &[]);
    check_type::<Shape>(&json!({ "kind": "empty" }), &[]);
    check_type::<Shape>(&json!({ "kind": "quad", "side": 1 }), &[]);
    check_type::<Shape>(
        &json!({ "kind": "square", "side": 1, "inner": { "kind": "circle", "x": 1 } }),
        &[
            "inner.maxRadius: Required field 'maxRadius' is missing (required)",
            "inner.x: Unknown field 'x' (additionalProperties)",
        ],
    );
    check_type::<Shape>(&json!({}), &["kind: Required field 'kind' is missing (required)"]);
    let document = Shape::schema().unwrap().to_json_schema();
    let first = &document["$defs"]["Shape"]["oneOf"][0];
    assert_eq!(first["description"], "A round one.");
    assert_eq!(first["properties"]["kind"], json!({ "const": "circle" }));
}

#[derive(Deserialize, Schema)]
#[serde(tag = "t", content = "c")]
#[expect(dead_code, reason = "only read")]
enum Adjacent {
    Unit,
    Newtype(u8),
    Maybe(Option<u8>),
    Tuple(u8, String),
    Struct { a: u8 },
}

#[test]
fn an_adjacent_tag() {
    for data in [
        json!({ "t": "Unit" }),
        json!({ "t": "Newtype", "c": 1 }),
        json!({ "t": "Maybe" }),
        json!({ "t": "Tuple", "c": [1, "a"] }),
        json!({ "t": "Struct", "c": { "a": 1 } }),
    ] {
        check_type::<Adjacent>(&data, &[]);
    }
    check_type::<Adjacent>(
        &json!({ "t": "Newtype" }),
        &["c: Required field 'c' is missing (required)"],
    );
    check_type::<Adjacent>(
        &json!({ "t": "Tuple", "c": [1] }),
        &["c: Array must contain at least 2 items (minItems)"],
    );
    check_type::<Adjacent>(
        &json!({ "t": "Struct", "c": {} }),
        &["c.a: Required field 'a' is missing (required)"],
    );
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only read")]
enum External {
    Unit,
    Newtype(u8),
    Tuple(u8, String),
    Struct {
        #[schema(trim, min_length = 1)]
        name: String,
    },
    List(Vec<Self>),
    #[serde(deserialize_with = "anything")]
    With(u8),
}

fn anything<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    Unchecked::<Value>::deserialize(deserializer).map(|_| 0)
}

#[test]
fn the_name_as_key() {
    for data in [
        json!("unit"),
        json!({ "newtype": 1 }),
        json!({ "tuple": [1, "a"] }),
        json!({ "struct": { "name": "a" } }),
        json!({ "list": ["unit", { "list": [] }] }),
        json!({ "with": [1] }),
    ] {
        check_type::<External>(&data, &[]);
    }
    check_type::<External>(
        &json!({ "list": ["unit", { "struct": { "name": " " } }] }),
        &["list[1].struct.name: String must be at least 1 characters (minLength)"],
    );
    let names = r#"Must be one of: "unit", "newtype", "tuple", "struct", "list", "with" (enum)"#;
    check_type::<External>(&json!({ "list": ["x"] }), &[&format!("list[0]: {names}")]);
}

#[derive(Deserialize, Schema)]
#[serde(tag = "op")]
#[expect(dead_code, reason = "only read")]
enum Expression {
    Number { value: f64 },
    Sum { terms: Vec<Self> },
}

#[test]
fn recursive_enums_agree_with_their_documents() {
    let schema = Expression::schema().unwrap();
    let oracle = jsonschema::validator_for(&schema.to_json_schema()).unwrap();
    let one = json!({ "op": "Number", "value": 1 });
    for data in [
        one.clone(),
        json!({ "op": "Sum", "terms": [one, { "op": "Sum", "terms": [] }] }),
        json!({ "op": "Sum", "terms": [{ "op": "Sum", "terms": [{ "op": "Number" }] }] }),
        json!({ "op": "Product" }),
        json!([]),
    ] {
        let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
        assert_eq!(errors.is_empty(), oracle.is_valid(&data), "{data}");
        assert_eq!(
            errors.is_empty(),
            serde_json::from_value::<Expression>(data.clone()).is_ok(),
            "{data}"
        );
    }
}
