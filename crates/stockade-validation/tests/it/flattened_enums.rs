//! Flattened enums that may be absent.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_validation::{HasSchema, ReadError, Schema, ValidationOptions};

use crate::support::lines;

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Internal {
    Circle {
        #[schema(maximum = 10)]
        radius: u8,
    },
    Square(Square),
    Empty,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
struct Square {
    side: u8,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    One(u8),
    Unit,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum External {
    Circle {
        #[schema(maximum = 10)]
        radius: u8,
    },
    Number(u8),
    Pair(u8, u8),
    Unit,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
#[serde(untagged)]
enum Untagged {
    Card {
        token: String,
    },
    Invoice {
        #[schema(max_length = 5)]
        vat_id: String,
    },
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
struct With<T> {
    name: String,
    #[serde(flatten)]
    it: T,
}

/// Checks the errors for some data. serde must read valid data, with the same
/// value.
#[track_caller]
fn check<T>(data: &Value, expected: &[&str]) -> Option<T>
where
    T: HasSchema + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug + Serialize,
{
    let schema = T::schema().unwrap();
    let options = ValidationOptions::new();
    let errors = schema.check(data, &options).unwrap();
    assert_eq!(lines(&errors), expected, "{data}");
    match schema.read_json::<T>(data.to_string().as_bytes(), &options) {
        Ok(read) => {
            assert!(expected.is_empty(), "{data}");
            assert_eq!(read, serde_json::from_value::<T>(data.clone()).unwrap(), "{data}");
            let written = serde_json::to_value(&read).unwrap();
            let replies = T::reply_schema().unwrap();
            let errors = replies.check(&written, &options).unwrap();
            assert_eq!(lines(&errors), Vec::<String>::new(), "{written}");
            let document = jsonschema::validator_for(&replies.to_json_schema()).unwrap();
            assert!(document.is_valid(&written), "{written}");
            Some(read)
        }
        Err(ReadError::Invalid(_)) if !expected.is_empty() => None,
        Err(error) => panic!("{error} for {data}"),
    }
}

#[test]
fn an_enum_with_a_tag_may_be_absent() {
    type T = With<Option<Internal>>;
    let it = check::<T>(&json!({ "name": "a" }), &[]).unwrap();
    assert_eq!(it.it, None);
    let it = check::<T>(&json!({ "name": "a", "kind": "circle", "radius": 1 }), &[]).unwrap();
    assert_eq!(it.it, Some(Internal::Circle { radius: 1 }));
    let it = check::<T>(&json!({ "name": "a", "kind": "square", "side": 1 }), &[]).unwrap();
    assert_eq!(it.it, Some(Internal::Square(Square { side: 1 })));
    check::<T>(&json!({ "name": "a", "kind": "empty", "x": 1 }), &[]);
    check::<T>(
        &json!({ "name": "a", "kind": "circle", "radius": 11 }),
        &["radius: Number must be at most 10 (maximum)"],
    );
    check::<T>(
        &json!({ "name": "a", "kind": "circle" }),
        &["radius: Required field 'radius' is missing (required)"],
    );
    check::<T>(
        &json!({ "name": "a", "kind": "star" }),
        &[r#"kind: Must be one of: "circle", "square", "empty" (enum)"#],
    );
    check::<T>(&json!({}), &["name: Required field 'name' is missing (required)"]);
}

#[test]
fn an_adjacently_tagged_enum_may_be_absent() {
    type T = With<Option<Adjacent>>;
    assert_eq!(check::<T>(&json!({ "name": "a" }), &[]).unwrap().it, None);
    let it = check::<T>(&json!({ "name": "a", "t": "One", "c": 1 }), &[]).unwrap();
    assert_eq!(it.it, Some(Adjacent::One(1)));
    check::<T>(
        &json!({ "name": "a", "t": "One" }),
        &["c: Required field 'c' is missing (required)"],
    );
}

#[test]
fn an_externally_tagged_enum_is_flattened() {
    type T = With<External>;
    let it = check::<T>(&json!({ "name": "a", "circle": { "radius": 1 } }), &[]).unwrap();
    assert_eq!(it.it, External::Circle { radius: 1 });
    check::<T>(&json!({ "pair": [1, 2], "name": "a", "x": 1 }), &[]);
    check::<T>(&json!({ "name": "a", "unit": null }), &[]);
    check::<T>(
        &json!({ "name": "a", "circle": { "radius": 11 } }),
        &["circle.radius: Number must be at most 10 (maximum)"],
    );
    check::<T>(
        &json!({ "name": "a", "number": "x" }),
        &["number: Expected integer, got string (type)"],
    );
    check::<T>(
        &json!({ "name": "a", "number": 1, "circle": { "radius": 11 } }),
        &[r#": Must have only one of: "circle", "number", "pair", "unit" (oneOf)"#],
    );
    let both = json!({ "name": "a", "unit": null, "number": 1 });
    let errors = T::schema().unwrap().check(&both, &ValidationOptions::new()).unwrap();
    assert_eq!(errors[0].text_id(), Some("oneOf-keys"));
    let values = errors[0].param("values").unwrap().to_string();
    assert_eq!(values, r#""circle", "number", "pair", "unit""#);
    check::<T>(&json!({ "name": "a" }), &["circle: Required field 'circle' is missing (required)"]);
}

#[test]
fn an_externally_tagged_enum_may_be_absent() {
    type T = With<Option<External>>;
    assert_eq!(check::<T>(&json!({ "name": "a" }), &[]).unwrap().it, None);
    assert!(check::<T>(&json!({ "name": "a", "number": 1 }), &[]).unwrap().it.is_some());
    check::<T>(
        &json!({ "name": "a", "number": "x" }),
        &["number: Expected integer, got string (type)"],
    );
    let document = T::schema().unwrap().to_json_schema();
    let oracle = jsonschema::validator_for(&document).unwrap();
    for (data, is_valid) in [
        (json!({ "name": "a" }), true),
        (json!({ "name": "a", "number": 1 }), true),
        (json!({ "name": "a", "number": 1, "pair": [1, 2] }), false),
        (json!({ "name": "a", "number": "x" }), false),
    ] {
        assert_eq!(oracle.is_valid(&data), is_valid, "{data}: {document}");
    }
}

#[test]
fn an_enum_without_a_tag_is_flattened() {
    type T = With<Untagged>;
    let it = check::<T>(&json!({ "name": "a", "vat_id": "7" }), &[]).unwrap();
    assert_eq!(it.it, Untagged::Invoice { vat_id: "7".into() });
    check::<T>(
        &json!({ "name": "a", "vat_id": 7 }),
        &["vat_id: Expected string, got number (type)"],
    );
    check::<T>(
        &json!({ "name": "a", "vat_id": "1234567" }),
        &["vat_id: String must be at most 5 characters (maxLength)"],
    );
    type Maybe = With<Option<Untagged>>;
    assert_eq!(check::<Maybe>(&json!({ "name": "a" }), &[]).unwrap().it, None);
    assert!(check::<Maybe>(&json!({ "name": "a", "token": "x" }), &[]).unwrap().it.is_some());
    check::<Maybe>(
        &json!({ "name": "a", "vat_id": "1234567" }),
        &["vat_id: String must be at most 5 characters (maxLength)"],
    );
}
