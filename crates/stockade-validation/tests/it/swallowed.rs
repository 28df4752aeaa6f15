//! Types that replace invalid values instead of failing. Values that the schema
//! rejects are still rejected.

use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use stockade_validation::{ReadError, Rule, Schema, ValidationOptions};

use crate::support::lines;

/// Contains the value, or a default after any error.
#[derive(Debug, Default)]
struct Lenient<T>(T);

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(T::deserialize(deserializer).unwrap_or_default()))
    }
}

#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Place {
    city: String,
    zip: String,
}

/// Stops at an invalid element, and ignores invalid values of members.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "only shown")]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor).or_else(|_: D::Error| Ok(Self::default()))
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
        let mut found = Vec::new();
        while let Ok(Some(item)) = list.next_element::<String>() {
            found.push(item);
        }
        Ok(Texts(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
        let mut found = Vec::new();
        while let Ok(Some(name)) = map.next_key::<String>() {
            let _ = map.next_value::<String>();
            found.push(name);
        }
        Ok(Texts(found))
    }
}

/// Ignores its value.
#[derive(Debug, Default)]
struct Blind;

impl<'de> Deserialize<'de> for Blind {
    fn deserialize<D: Deserializer<'de>>(_deserializer: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Either {
    Place(Place),
    Number(u8),
    Other(IgnoredAny),
}

#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Record<T> {
    #[serde(default)]
    first: T,
    last: Option<u8>,
}

impl Default for Either {
    fn default() -> Self {
        Self::Number(0)
    }
}

fn shown<T: Debug>(result: Result<T, ReadError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(ReadError::Invalid(errors)) => lines(&errors).join("\n"),
        Err(error) => error.to_string(),
    }
}

/// A rule with a function uses the slow path.
#[track_caller]
fn agree<T: DeserializeOwned + Debug>(rule: &Value, text: &str) {
    let quick = Schema::from_value(rule).unwrap();
    let slow = Rule::from_value(rule).custom(|_, _, _| true).build().unwrap();
    let options = ValidationOptions::new();
    let actual = shown(quick.read_json::<T>(text.as_bytes(), &options));
    let expected = shown(slow.read_json::<T>(text.as_bytes(), &options));
    assert_eq!(actual, expected, "{} of {rule} for {text}", std::any::type_name::<T>());
    let Ok(data) = serde_json::from_str::<Value>(text) else { return };
    let found = quick.read_quickly::<T>(text, &options).is_some();
    assert!(!found || quick.check(&data, &options).unwrap().is_empty(), "{rule} for {text}");
}

#[track_caller]
fn agree_for_all(rule: &Value, text: &str) {
    agree::<Lenient<u8>>(rule, text);
    agree::<Lenient<String>>(rule, text);
    agree::<Lenient<Place>>(rule, text);
    agree::<Lenient<Vec<u8>>>(rule, text);
    agree::<Lenient<(u8, u8)>>(rule, text);
    agree::<Option<Lenient<Option<Place>>>>(rule, text);
    agree::<Vec<Lenient<u8>>>(rule, text);
    agree::<Texts>(rule, text);
    agree::<Either>(rule, text);
}

const RULES: [&str; 5] = [
    r#"{ "type": "integer", "maximum": 9 }"#,
    r#"{ "type": "string", "minLength": 2 }"#,
    r#"{ "type": "array", "maxItems": 2, "items": { "type": "integer" } }"#,
    r#"{ "type": "object", "additionalProperties": false, "properties": {
        "city": { "type": "string", "minLength": 2, "required": true },
        "zip": { "type": "string", "maxLength": 3 } } }"#,
    "{}",
];

const TEXTS: [&str; 22] = [
    "",
    "tru",
    "1",
    "10",
    "1e2",
    "300",
    "-1",
    "null",
    r#""a""#,
    r#""abc""#,
    r#""a"#,
    "[]",
    "[1,2]",
    "[1,2,3]",
    r#"[1,"a"]"#,
    "[1,}",
    r#"{"city":"Rome"}"#,
    r#"{"city":"R","zip":"1"}"#,
    r#"{"city":"Rome","zip":"1234"}"#,
    r#"{"more":1,"city":"Rome","zip":"1"}"#,
    r#"{"city":"Rome","zip":7}"#,
    r#"{"city":"Rome","#,
];

#[test]
fn a_lenient_type_does_not_hide_errors() {
    for rule in RULES {
        let rule: Value = serde_json::from_str(rule).unwrap();
        for text in TEXTS {
            agree_for_all(&rule, text);
        }
    }
}

#[test]
fn a_lenient_field_does_not_hide_errors() {
    for rule in RULES {
        let first: Value = serde_json::from_str(rule).unwrap();
        let rule = json!({ "first": first, "last": { "type": "integer", "maximum": 9 } });
        for first in TEXTS {
            for rest in ["}", r#","last":1}"#, r#","last":10}"#, ""] {
                let text = format!(r#"{{"first":{first}{rest}"#);
                agree::<Record<Lenient<u8>>>(&rule, &text);
                agree::<Record<Lenient<String>>>(&rule, &text);
                agree::<Record<Lenient<Place>>>(&rule, &text);
                agree::<Record<Lenient<Vec<u8>>>>(&rule, &text);
                agree::<Record<Texts>>(&rule, &text);
                agree::<Record<Either>>(&rule, &text);
                agree::<Record<Option<Lenient<(u8, u8)>>>>(&rule, &text);
                agree::<Record<Blind>>(&rule, &text);
                agree::<Texts>(&rule, &text);
                agree::<Lenient<Record<u8>>>(&rule, &text);
            }
        }
    }
}

#[test]
fn a_lenient_default_replaces_only_valid_values() {
    let schema = Schema::from_value(&json!({ "first": { "type": "integer" } })).unwrap();
    let read = |text: &str| {
        shown(schema.read_json::<Record<Lenient<u8>>>(text.as_bytes(), &ValidationOptions::new()))
    };
    assert_eq!(read(r#"{"first":300}"#), "Record { first: Lenient(0), last: None }");
    assert_eq!(read(r#"{"first":"a"}"#), "first: Expected integer, got string (type)");
}
