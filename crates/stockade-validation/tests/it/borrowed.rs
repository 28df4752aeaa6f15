//! Types with lifetimes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade_validation::{HasSchema, Schema, ValidationOptions};

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
struct Event<'a> {
    #[schema(max_length = 5)]
    name: &'a str,
    #[serde(borrow)]
    text: Cow<'a, str>,
    tags: Vec<&'a str>,
    inner: Option<Inner<'a, u8>>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize, Schema)]
struct Inner<'a, T>
where
    T: 'a,
{
    it: T,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Debug, Deserialize, PartialEq, Schema)]
#[serde(untagged)]
enum Either<'a> {
    Text(&'a str),
    Object {
        #[schema(maximum = 5)]
        number: u8,
    },
}

#[test]
fn borrowing_types_have_a_schema() {
    let schema = Event::schema().unwrap();
    let options = ValidationOptions::new();
    let text = r#"{ "name": "Ada", "text": "x", "tags": ["a"], "inner": { "it": 1, "text": "" } }"#;
    let data = serde_json::from_str(text).unwrap();
    assert!(schema.check(&data, &options).unwrap().is_empty());
    let event: Event<'_> = serde_json::from_str(text).unwrap();
    assert_eq!((event.name, &*event.text), ("Ada", "x"));
    assert_eq!(serde_json::to_value(&event).unwrap(), data);

    let data = json!({ "name": "Marie Curie", "text": 1, "tags": [2] });
    let errors = schema.check(&data, &options).unwrap();
    let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
    assert_eq!(fields, ["name", "text", "tags[0]"]);
}

#[test]
fn rules_select_the_variant_of_a_borrowing_union() {
    let schema = Either::schema().unwrap();
    let options = ValidationOptions::new();
    assert!(schema.check(&json!("text"), &options).unwrap().is_empty());
    assert!(schema.check(&json!({ "number": 1 }), &options).unwrap().is_empty());
    assert_eq!(schema.check(&json!({ "number": 7 }), &options).unwrap()[0].rule, "maximum");
    assert_eq!(serde_json::from_str::<Either<'_>>(r#""a""#).unwrap(), Either::Text("a"));
}

/// A type that owns its text if it is read from temporary data.
#[test]
fn reads_a_cow_from_any_data() {
    #[derive(Debug, Deserialize, Schema)]
    struct Owned<'a> {
        text: Cow<'a, str>,
    }

    let schema = Owned::schema().unwrap();
    let read = schema.read_json::<Owned<'static>>(br#"{ "text": "a" }"#, &ValidationOptions::new());
    assert_eq!(read.unwrap().text, "a");
}
