//! Checks that valid data without changes needs no allocation.

use serde::Deserialize;
use serde_json::json;
use stockade_validation::{
    HasSchema, ReadError, Rule, Schema, ValidationOptions, validate_against_schema,
};

#[test]
fn valid_data_allocates_nothing() {
    let schema = Schema::from_value(&json!({
        "name": { "type": "string", "required": true, "minLength": 2, "maxLength": 40, "trim": true },
        "email": { "type": "email", "required": true },
        "site": { "type": "url" },
        "id": { "type": "uuid" },
        "age": { "type": "integer", "minimum": 0, "max": 150 },
        "role": { "enum": ["admin", "reader"] },
        "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" }, "uniqueItems": true },
        "address": { "zip": { "type": "string", "format": "ipv4" }, "city": { "type": "string" } },
    }))
    .unwrap();
    let data = json!({
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "site": "https://example.com/a?b=c",
        "id": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "age": 36,
        "role": "admin",
        "tags": ["math", "engine"],
        "address": { "zip": "127.0.0.1", "city": "London" },
        "unknown": [1, 2, { "a": null }],
    });
    for options in [
        ValidationOptions::new(),
        ValidationOptions::new().coerce_types(true),
        ValidationOptions::new().abort_early(true),
    ] {
        // The regular expression creates its cache on the first call.
        assert_eq!(schema.check(&data, &options).unwrap(), []);
        let info = allocation_counter::measure(|| {
            assert!(schema.check(&data, &options).unwrap().is_empty());
        });
        assert_eq!(info.count_total, 0, "check");
        let copy = data.clone();
        let info = allocation_counter::measure(|| {
            assert!(validate_against_schema(&schema, copy, &options).unwrap().valid());
        });
        assert_eq!(info.count_total, 0, "validate");
    }
}

struct Tree;

impl HasSchema for Tree {
    fn rule() -> Rule {
        Rule::tagged(
            "kind",
            [
                ("leaf", Rule::object([("place", Rule::tuple([Rule::number(), Rule::number()]))])),
                ("branch", Rule::object([("children", Rule::array(Rule::of::<Self>()))])),
            ],
        )
    }
}

#[test]
fn recursion_and_unions_allocate_nothing() {
    let schema = Tree::schema().unwrap();
    let leaf = json!({ "kind": "leaf", "place": [1, 2] });
    let branch = json!({ "kind": "branch", "children": [leaf, leaf] });
    let data = json!({ "kind": "branch", "children": [branch, leaf] });
    let info = allocation_counter::measure(|| {
        assert!(schema.check(&data, &ValidationOptions::new()).unwrap().is_empty());
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn reading_allocates_only_for_the_type() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct User {
        name: String,
        age: u8,
        role: Role,
        tags: Vec<String>,
        address: Option<Address>,
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Address {
        city: Box<str>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Role {
        Admin,
    }
    let schema = Schema::from_value(&json!({
        "name": { "type": "string", "required": true, "minLength": 2, "trim": true },
        "age": { "type": "integer", "minimum": 0, "max": 150 },
        "role": { "enum": ["admin", "reader"] },
        "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" } },
        "address": { "zip": { "type": "string", "format": "ipv4" }, "city": { "type": "string" } },
        "site": { "type": "url" },
    }))
    .unwrap();
    let options = ValidationOptions::new();
    let text = br#"{
        "name": "Ada Lovelace", "tags": ["math", "engine"], "role": "admin", "age": 36,
        "address": { "city": "London", "zip": "127.0.0.1" },
        "site": "https://example.com/a?b=c", "unknown": [1, 2, { "a": null }]
    }"#;
    // The regular expression creates its cache on the first call.
    assert!(schema.read_json::<User>(text, &options).is_ok());
    let plain = allocation_counter::measure(|| {
        assert!(serde_json::from_slice::<User>(text).is_ok());
    });
    let validated = allocation_counter::measure(|| {
        assert!(schema.read_json::<User>(text, &options).is_ok());
    });
    // serde_json may allocate more, because it records the nesting of skipped
    // values.
    assert!(validated.count_total <= plain.count_total, "{validated:?} {plain:?}");
    assert!(validated.bytes_total <= plain.bytes_total, "{validated:?} {plain:?}");
}

#[test]
fn errors_allocate_their_texts_and_one_list_of_values() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct User {
        age: u8,
        email: String,
        tags: Vec<String>,
    }
    let schema = Schema::from_value(&json!({
        "age": { "type": "integer", "maximum": 150 },
        "email": { "type": "string", "format": "email" },
        "tags": { "type": "array", "items": { "type": "string" } },
    }))
    .unwrap();
    let options = ValidationOptions::new();
    let text = br#"{ "age": 200, "email": "ada", "tags": ["a", "b", "c"], "more": 1 }"#;
    let mut errors = 0;
    let info = allocation_counter::measure(|| {
        let error = schema.read_json::<User>(text, &options).unwrap_err();
        errors = if let ReadError::Invalid(errors) = error { errors.len() } else { 0 };
    });
    assert_eq!(errors, 2);
    // One allocation each for the values, the errors, two paths and a message.
    assert_eq!(info.count_total, 5, "{info:?}");
}
