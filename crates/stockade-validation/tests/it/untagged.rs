//! `#[serde(untagged)]` and `#[serde(other)]`: errors, documents, options,
//! responses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_validation::marks::{Mark, Marks};
use stockade_validation::{HasSchema, Rule, Schema, ValidationOptions, validate_against_schema};

use crate::support::{check_type, check_with};

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(untagged)]
enum Payment {
    Card {
        token: String,
    },
    Invoice {
        #[schema(max_length = 20)]
        vat_id: String,
    },
}

#[test]
fn the_closest_variant_has_the_errors() {
    check_type::<Payment>(&json!({ "token": "a" }), &[]);
    check_type::<Payment>(&json!({ "vat_id": "a" }), &[]);
    check_type::<Payment>(&json!({ "vat_id": 7 }), &["vat_id: Expected string, got number (type)"]);
    check_type::<Payment>(
        &json!({ "vat_id": "a".repeat(21) }),
        &["vat_id: String must be at most 20 characters (maxLength)"],
    );
    check_type::<Payment>(&json!({ "token": 7 }), &["token: Expected string, got number (type)"]);
    check_type::<Payment>(&json!({}), &["token: Required field 'token' is missing (required)"]);
    check_type::<Payment>(&json!("card"), &[": Expected object, got string (type)"]);
}

/// The first variant counts even if the value breaks its keyword, because serde
/// builds that variant.
#[test]
fn a_later_variant_does_not_replace_the_first_match() {
    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Id {
        Code(#[schema(max_length = 3)] String),
        Name(String),
    }

    check_type::<Id>(&json!("abc"), &[]);
    let schema = Id::schema().unwrap();
    check_with(&schema, &json!("abcd"), &[": String must be at most 3 characters (maxLength)"]);
    assert!(matches!(serde_json::from_value(json!("abcd")), Ok(Id::Code(_))));
}

#[test]
fn a_matching_constant_makes_a_variant_closer() {
    let rule = Rule::first_of([
        Rule::object([("op", Rule::any().constant("add")), ("left", Rule::integer())])
            .required_fields(["op", "left"]),
        Rule::object([("op", Rule::any().constant("not")), ("it", Rule::integer())])
            .required_fields(["op", "it"]),
    ]);
    let schema = rule.build().unwrap();
    check_with(
        &schema,
        &json!({ "op": "not", "left": 1 }),
        &["it: Required field 'it' is missing (required)"],
    );
}

#[test]
fn a_type_mismatch_with_all_variants_names_all_types() {
    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Id {
        Number(u64),
        Name(String),
    }

    check_type::<Id>(&json!(true), &[": Expected integer or string, got boolean (type)"]);
    check_type::<Option<Id>>(&json!(null), &[]);
    check_type::<Vec<Id>>(
        &json!([1, "a", null]),
        &["[2]: Expected integer or string, got null (type)"],
    );
}

#[test]
fn documents_show_if_variants_are_exclusive() {
    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only described")]
    enum Id {
        Number(u64),
        Name(String),
        Null,
        Object { id: u8 },
    }

    let document = Id::schema().unwrap().to_json_schema();
    assert_eq!(document["oneOf"].as_array().unwrap().len(), 4, "{document}");
    assert_eq!(document["type"], json!(["string", "object", "integer", "null"]));
    let document = Payment::schema().unwrap().to_json_schema();
    assert_eq!(
        document,
        json!({
            "type": "object",
            "anyOf": [
                {
                    "type": "object",
                    "properties": { "token": { "type": "string" } },
                    "required": ["token"],
                },
                {
                    "type": "object",
                    "properties": { "vat_id": { "type": "string", "maxLength": 20 } },
                    "required": ["vat_id"],
                },
            ],
        })
    );
    let closed = Rule::first_of([
        Rule::object([("a", Rule::any())]).required_fields(["a"]).additional_properties(false),
        Rule::object([("b", Rule::any())]).required_fields(["b"]).additional_properties(false),
    ]);
    assert!(closed.build().unwrap().to_json_schema().get("oneOf").is_some());
}

#[test]
fn documents_agree_with_the_schema() {
    let schema = Payment::schema().unwrap();
    let oracle = jsonschema::validator_for(&schema.to_json_schema()).unwrap();
    for data in [
        json!({ "token": "a" }),
        json!({ "token": 1 }),
        json!({ "vat_id": "a" }),
        json!({ "vat_id": "a".repeat(21) }),
        json!({ "vat_id": "a", "token": "b" }),
        json!({}),
        json!(null),
        json!([]),
    ] {
        let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
        assert_eq!(errors.is_empty(), oracle.is_valid(&data), "{data}");
    }
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(untagged)]
enum Filter {
    Number { id: u64 },
    Flagged { flag: bool, id: String },
    Named { name: String, ids: Option<Vec<u8>> },
}

/// Texts become numbers and booleans if a variant expects these, as in a query.
#[test]
fn texts_are_converted_for_the_variant() {
    let schema = Filter::schema().unwrap();
    let options = ValidationOptions::new().coerce_types(true).list_from_one(true);
    for (data, expected) in [
        (json!({ "id": "7" }), json!({ "id": 7 })),
        (json!({ "id": "x", "flag": "true" }), json!({ "id": "x", "flag": true })),
        (json!({ "name": "7" }), json!({ "name": "7" })),
        (json!({ "name": "a", "ids": "7" }), json!({ "name": "a", "ids": [7] })),
    ] {
        let outcome = validate_against_schema(&schema, data.clone(), &options).unwrap();
        assert_eq!(outcome.errors, [], "{data}");
        assert_eq!(outcome.data, expected);
        let read: Filter = schema.read_value(&data, &options).unwrap();
        assert_eq!(read, serde_json::from_value(expected).unwrap());
    }
    let errors = schema.check(&json!({ "id": "x" }), &options).unwrap();
    assert_eq!(errors[0].field, "id");
    // serde does not read text as a number if conversion is disabled.
    let errors = schema.check(&json!({ "id": "7" }), &ValidationOptions::new()).unwrap();
    assert_eq!(errors[0].message, "Expected integer, got string");
}

#[test]
fn applies_the_changes_of_the_variant() {
    #[derive(Debug, Deserialize, PartialEq, Schema)]
    #[serde(untagged)]
    enum Changed {
        Short {
            #[schema(trim, max_length = 3)]
            a: String,
            #[schema(default = 7)]
            b: u8,
        },
        Whole {
            number: u64,
        },
    }

    let schema = Changed::schema().unwrap();
    let options = ValidationOptions::new();
    let read = |data: &Value| schema.read_json::<Changed>(data.to_string().as_bytes(), &options);
    assert_eq!(read(&json!({ "a": " abc " })).unwrap(), Changed::Short { a: "abc".into(), b: 7 });
    assert_eq!(read(&json!({ "number": 2.0 })).unwrap(), Changed::Whole { number: 2 });
    let strip = options.clone().strip_unknown(true);
    let outcome = validate_against_schema(&schema, json!({ "x": 1, "number": 2 }), &strip).unwrap();
    assert_eq!(outcome.data, json!({ "number": 2 }));
    let refuse = options.clone().allow_unknown(false);
    let errors = schema.check(&json!({ "x": 1, "number": 2 }), &refuse).unwrap();
    assert_eq!(errors[0].message, "Unknown field 'x'");
}

/// A default or a removed field can make another variant match. serde must not
/// build that variant.
#[test]
fn a_change_that_selects_another_variant_is_rejected_or_read() {
    #[derive(Debug, Deserialize, PartialEq, Schema)]
    #[serde(untagged)]
    enum Shifting {
        A {
            a: u8,
            #[schema(maximum = 5)]
            b: u8,
        },
        B {
            a: u8,
            #[schema(default = 9)]
            b: u8,
        },
        C {
            c: u8,
            #[schema(maximum = 5)]
            d: Option<u8>,
        },
        D {
            c: u8,
        },
    }

    let schema = Shifting::schema().unwrap();
    let options = ValidationOptions::new();
    // The default of the second variant makes the first variant match, and
    // breaks its bound.
    let read = schema.read_json::<Shifting>(br#"{ "a": 1 }"#, &options);
    assert!(read.is_err(), "{read:?}");
    let strip = options.clone().strip_unknown(true);
    let read = schema.read_json::<Shifting>(br#"{ "c": 1, "d": "x" }"#, &strip);
    assert!(read.is_err(), "{read:?}");
    let read = schema.read_json::<Shifting>(br#"{ "c": 1, "d": "x" }"#, &options);
    assert_eq!(read.unwrap(), Shifting::D { c: 1 });
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle {
        radius: u8,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Word {
    A,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    One(u8),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Key {
    One(u8),
    Unit,
    #[serde(other)]
    Other,
}

#[test]
fn unknown_names_select_the_other_variant() {
    check_type::<Shape>(&json!({ "kind": "circle", "radius": 1 }), &[]);
    check_type::<Shape>(&json!({ "kind": "star", "x": 1 }), &[]);
    check_type::<Shape>(
        &json!({ "kind": "circle" }),
        &["radius: Required field 'radius' is missing (required)"],
    );
    check_type::<Shape>(&json!({}), &["kind: Required field 'kind' is missing (required)"]);
    check_type::<Word>(&json!("a"), &[]);
    check_type::<Word>(&json!("b"), &[]);
    check_type::<Word>(&json!(1), &[": Expected string, got number (type)"]);
    check_type::<Adjacent>(&json!({ "t": "One", "c": 1 }), &[]);
    check_type::<Adjacent>(&json!({ "t": "x" }), &[]);
    check_type::<Adjacent>(
        &json!({ "t": "One", "c": "x" }),
        &["c: Expected integer, got string (type)"],
    );
    check_type::<Key>(&json!({ "one": 1 }), &[]);
    check_type::<Key>(&json!("unit"), &[]);
    check_type::<Key>(&json!("x"), &[]);
    check_type::<Key>(&json!("one"), &[": Expected object, got string (type)"]);
}

#[test]
fn documents_of_the_other_variant_exclude_the_known_names() {
    let known = json!({ "kind": "circle", "radius": 1 });
    for (schema, values) in [
        (Shape::schema(), vec![known, json!({ "kind": "star" }), json!({ "kind": "circle" })]),
        (Word::schema(), vec![json!("a"), json!("b"), json!(1)]),
        (
            Adjacent::schema(),
            vec![json!({ "t": "One", "c": 1 }), json!({ "t": "x" }), json!({ "t": "One" })],
        ),
        (Key::schema(), vec![json!("x"), json!("one"), json!({ "one": 1 }), json!({ "x": 1 })]),
    ] {
        let schema = schema.unwrap();
        let document = schema.to_json_schema();
        let oracle = jsonschema::validator_for(&document).unwrap();
        for data in values {
            let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
            assert_eq!(errors.is_empty(), oracle.is_valid(&data), "{data}: {document}");
        }
    }
    // A response contains the name of the variant.
    let replies = Shape::reply_schema().unwrap();
    let written = serde_json::to_value(Shape::Unknown).unwrap();
    assert!(replies.check(&written, &ValidationOptions::new()).unwrap().is_empty());
    let star = json!({ "kind": "star" });
    assert!(!replies.check(&star, &ValidationOptions::new()).unwrap().is_empty());
}

#[test]
fn responses_follow_serialization() {
    #[derive(Serialize, Schema)]
    #[serde(untagged)]
    enum Reply {
        Error { message: &'static str },
        Page { items: Vec<u8>, next: Option<u8> },
        Text(String),
    }

    let schema = Reply::reply_schema().unwrap();
    let document = jsonschema::validator_for(&schema.to_json_schema()).unwrap();
    for reply in [
        Reply::Error { message: "no" },
        Reply::Page { items: vec![1], next: None },
        Reply::Text("a".into()),
    ] {
        let written = serde_json::to_value(reply).unwrap();
        assert!(schema.check(&written, &ValidationOptions::new()).unwrap().is_empty());
        assert!(document.is_valid(&written));
    }
    let other = json!({ "items": ["x"] });
    assert!(!schema.check(&other, &ValidationOptions::new()).unwrap().is_empty());
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Secret {
    Login {
        name: String,
        #[schema(write_only)]
        password: String,
    },
    Key {
        #[schema(read_only)]
        id: u8,
        key: String,
    },
}

#[test]
fn marks_in_variants_are_applied() {
    let marks = Marks::of(&Secret::schema().unwrap());
    let strip = |mark, mut value: Value| {
        let text = marks.strip_text(mark, &value.to_string()).unwrap();
        marks.strip(mark, &mut value);
        assert_eq!(text.unwrap_or_else(|| value.to_string()), value.to_string());
        value
    };
    let login = json!({ "name": "a", "password": "b" });
    assert_eq!(strip(Mark::WriteOnly, login.clone()), json!({ "name": "a" }));
    assert_eq!(strip(Mark::ReadOnly, login.clone()), login);
    assert_eq!(strip(Mark::ReadOnly, json!({ "id": 1, "key": "a" })), json!({ "key": "a" }));
    // Also in an invalid value.
    assert_eq!(strip(Mark::ReadOnly, json!({ "id": 1 })), json!({}));
    assert_eq!(strip(Mark::WriteOnly, json!({ "password": "b", "key": 1 })), json!({ "key": 1 }));
    assert!(marks.may_be_marked(Mark::WriteOnly, "password"));
}

/// A thousand variants, and values of a hundred of them.
#[test]
fn many_variants_and_values() {
    let variant = |index: usize| {
        let name = format!("n{index}");
        Rule::object([(name.clone(), Rule::integer())]).required_fields([name])
    };
    let schema = Rule::array(Rule::first_of((0..1_000).map(variant))).build().unwrap();
    let values: Value = (0..100).map(|index| json!({ format!("n{}", 999 - index): 1 })).collect();
    assert!(schema.check(&values, &ValidationOptions::new()).unwrap().is_empty());
    let wrong = json!([{ "n999": "x" }]);
    let errors = schema.check(&wrong, &ValidationOptions::new()).unwrap();
    assert_eq!(errors[0].field, "[0].n999");
    assert!(schema.to_json_schema()["items"].get("anyOf").is_some());
}

/// Text that serde_json stores raw retains the original digits, even next to a
/// union.
#[test]
fn raw_values_next_to_a_union_keep_their_text() {
    #[derive(Deserialize, Schema)]
    struct Raw {
        payment: Payment,
        #[schema(opaque)]
        raw: Box<serde_json::value::RawValue>,
    }

    let schema = Raw::schema().unwrap();
    let text = br#"{ "payment": { "token": "a" }, "raw": [1, 2] }"#;
    let read = schema.read_json::<Raw>(text, &ValidationOptions::new()).unwrap();
    assert_eq!(read.payment, Payment::Card { token: "a".into() });
    assert_eq!(read.raw.get(), "[1,2]");
}

/// The variant of a changed value is known only after the change, which alternatives discard.
#[test]
fn unions_in_alternatives_keep_their_variant() {
    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only described")]
    enum Choice {
        Named {
            #[schema(trim, max_length = 1)]
            name: String,
            #[schema(default = 1)]
            count: u8,
        },
        Number(u8),
    }

    let alternatives = [Rule::of::<Choice>(), Rule::string()];
    let any_of = Rule::any().any_of(alternatives.clone()).build().unwrap();
    let not = Rule::any().not(Rule::of::<Choice>()).build().unwrap();
    let closed = Rule::object([("name", Rule::string())]);
    let closed = closed.any_of(alternatives).unevaluated_properties(false).build().unwrap();
    let is_valid = |schema: &Schema, data: &Value| {
        schema.check(data, &ValidationOptions::new()).unwrap().is_empty()
            && validate_against_schema(schema, data.clone(), &ValidationOptions::new())
                .unwrap()
                .errors
                .is_empty()
    };
    for (data, follows) in [
        (json!({ "name": " a " }), true),
        (json!({ "name": "a", "count": 2 }), true),
        (json!({ "name": "ab" }), false),
        (json!(7), true),
        (json!(true), false),
    ] {
        assert_eq!(is_valid(&any_of, &data), follows, "{data}");
        assert_eq!(is_valid(&not, &data), !follows, "{data}");
    }
    assert!(is_valid(&closed, &json!({ "name": "a", "count": 2 })));
    assert!(!is_valid(&closed, &json!({ "name": "a", "other": 2 })));
}
