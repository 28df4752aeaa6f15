//! Field aliases: `#[serde(alias)]`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_validation::{
    HasSchema, ReadError, Rule, Schema, ValidationOptions, validate_against_schema,
};

use crate::support::check_type;

#[derive(Debug, Deserialize, Eq, PartialEq, Serialize, Schema)]
struct User {
    name: String,
    #[serde(alias = "years", alias = "old")]
    #[schema(maximum = 150)]
    age: u8,
    #[serde(default, alias = "words")]
    #[schema(default = "none", max_length = 5)]
    tags: String,
}

#[test]
fn a_field_accepts_its_name_or_alias() {
    for data in [
        json!({ "name": "Ada", "age": 36, "tags": "a" }),
        json!({ "name": "Ada", "years": 36, "tags": "a" }),
        json!({ "words": "a", "old": 36, "name": "Ada" }),
    ] {
        check_type::<User>(&data, &[]);
        let options = ValidationOptions::new();
        let schema = User::schema().unwrap();
        let user = schema.read_json::<User>(data.to_string().as_bytes(), &options).unwrap();
        assert_eq!(user, User { name: "Ada".into(), age: 36, tags: "a".into() });
        assert_eq!(schema.read_value::<User>(&data, &options).unwrap(), user);
    }
}

#[test]
fn errors_contain_the_received_name() {
    check_type::<User>(
        &json!({ "name": "Ada", "years": 200 }),
        &["years: Number must be at most 150 (maximum)"],
    );
    check_type::<User>(
        &json!({ "name": "Ada" }),
        &["age: Required field 'age' is missing (required)"],
    );
}

#[test]
fn rejects_a_name_together_with_its_alias() {
    let twice = &["age: Duplicate field 'age' (type)"];
    for data in [
        json!({ "name": "Ada", "age": 1, "years": 1 }),
        json!({ "years": 1, "name": "Ada", "age": 1 }),
        json!({ "name": "Ada", "old": 1, "years": 1 }),
    ] {
        check_type::<User>(&data, twice);
        let options = ValidationOptions::new();
        let schema = User::schema().unwrap();
        let text = data.to_string();
        let Err(ReadError::Invalid(errors)) = schema.read_json::<User>(text.as_bytes(), &options)
        else {
            panic!("{data} is read");
        };
        assert_eq!(errors[0].message, "Duplicate field 'age'");
        assert!(schema.read_json::<Value>(text.as_bytes(), &options).is_err());
        assert!(schema.read_value::<User>(&data, &options).is_err());
    }
}

#[test]
fn valid_data_has_the_name_of_the_schema() {
    let schema = User::schema().unwrap();
    let options = ValidationOptions::new();
    let data = json!({ "years": 36, "name": "Ada", "x": 1 });
    let expected = r#"{"name":"Ada","age":36,"tags":"none","x":1}"#;
    let outcome = validate_against_schema(&schema, data.clone(), &options).unwrap();
    assert_eq!(outcome.data.to_string(), expected);
    let read: Value = schema.read_json(data.to_string().as_bytes(), &options).unwrap();
    assert_eq!(read.to_string(), expected);
    let data = json!({ "words": "a", "years": 36, "name": "Ada" });
    let outcome = validate_against_schema(&schema, data, &options).unwrap();
    assert_eq!(outcome.data.to_string(), r#"{"name":"Ada","age":36,"tags":"a"}"#);
}

#[test]
fn an_alias_is_a_known_field() {
    let schema = User::schema().unwrap();
    let data = json!({ "name": "Ada", "years": 36 });
    let refuse = ValidationOptions::new().allow_unknown(false);
    assert!(schema.check(&data, &refuse).unwrap().is_empty());
    let strip = ValidationOptions::new().strip_unknown(true);
    let outcome = validate_against_schema(&schema, data, &strip).unwrap();
    assert_eq!(outcome.data, json!({ "name": "Ada", "age": 36, "tags": "none" }));
}

#[test]
fn changes_of_a_resource_accept_aliases() {
    let patch = User::rule().merge_patch().build().unwrap();
    let options = ValidationOptions::new();
    let outcome = validate_against_schema(&patch, json!({ "years": 7 }), &options).unwrap();
    assert_eq!((outcome.errors.len(), outcome.data), (0, json!({ "age": 7 })));
    assert!(!patch.check(&json!({ "years": 200 }), &options).unwrap().is_empty());
}

#[test]
fn responses_and_documents_have_one_name() {
    let reply = User::reply_schema().unwrap().to_json_schema();
    let names = |schema: &Value| {
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&reply), ["name", "age", "tags"]);
    assert_eq!(names(&User::schema().unwrap().to_json_schema()), ["name", "age", "tags"]);
}

/// More properties than a walk tracks at once.
#[test]
fn wide_objects_behave_the_same() {
    #[derive(Deserialize, Schema)]
    struct Last {
        #[serde(alias = "b")]
        #[expect(dead_code, reason = "only read")]
        a: u8,
    }

    let wide = (0..70).map(|index| (format!("n{index}"), Rule::integer()));
    let schema = Rule::object(wide).flatten(Last::rule()).build().unwrap();
    let options = ValidationOptions::new();
    assert!(schema.check(&json!({ "b": 1 }), &options).unwrap().is_empty());
    assert_eq!(schema.check(&json!({ "b": "x" }), &options).unwrap()[0].field, "b");
    assert_eq!(schema.check(&json!({}), &options).unwrap()[0].field, "a");
    assert_eq!(schema.check(&json!({ "a": 1, "b": 1 }), &options).unwrap()[0].rule, "type");
}

#[test]
fn an_alias_that_is_another_field_is_a_configuration_error() {
    let rule = Rule::object([("a", Rule::any()), ("b", Rule::any())]);
    #[derive(Schema)]
    #[expect(dead_code, reason = "only described")]
    struct Taken {
        #[serde(alias = "b")]
        c: u8,
    }
    let error = rule.flatten(Taken::rule()).build().unwrap_err();
    let message = error.issues()[0].message();
    assert_eq!(message, "the alias `b` is the name of another property");
}
