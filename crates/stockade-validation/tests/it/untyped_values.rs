//! The limit for values that are stored regardless of their type.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use stockade_validation::{HasSchema, ReadError, Rule, Schema, ValidationOptions};

/// Returns whether a text exceeds each of two limits for its values.
#[track_caller]
fn check<T: DeserializeOwned>(schema: &Schema, text: &str, fits: usize) {
    let read = |most| {
        let read = schema.read_json_within::<T>(text.as_bytes(), &ValidationOptions::new(), most);
        matches!(read, Err(ReadError::TooManyValues(limit)) if limit == most)
    };
    assert!(!read(fits), "{fits} values are enough");
    if let Some(fewer) = fits.checked_sub(1) {
        assert!(read(fewer), "{fewer} values are too few");
    }
}

fn any() -> Schema {
    Rule::any().build().unwrap()
}

fn list(count: usize) -> String {
    format!("[{}0]", "0,".repeat(count - 1))
}

#[derive(Deserialize)]
struct Call {
    #[expect(dead_code, reason = "only read")]
    method: String,
    #[expect(dead_code, reason = "only read")]
    params: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    #[expect(dead_code, reason = "only read")]
    Numbers(Vec<u8>),
    #[expect(dead_code, reason = "only read")]
    Text(String),
}

#[test]
fn counts_untyped_values() {
    check::<Value>(&any(), &list(99), 100);
    check::<Value>(&any(), "[[0],[0],{\"a\":[]}]", 7);
    check::<Vec<Value>>(&any(), &list(99), 99);
    check::<Option<Value>>(&any(), "[1]", 2);
    check::<HashMap<String, Value>>(&any(), r#"{"a":[1,2],"b":{"c":3}}"#, 5);
    // The surrounding values do not count.
    let call = format!(r#"{{"method":"m","params":{}}}"#, list(99));
    check::<Call>(&any(), &call, 100);
    let calls = format!("[{call},{call}]");
    check::<Vec<Call>>(&any(), &calls, 200);
    check::<Either>(&any(), &list(99), 100);
}

#[test]
fn does_not_count_typed_values() {
    check::<Vec<u8>>(&any(), &list(99), 0);
    check::<Vec<Vec<u8>>>(&any(), "[[0],[0]]", 0);
    check::<HashMap<String, Vec<bool>>>(&any(), r#"{"a":[true],"b":[false,true]}"#, 0);
    // Skipped values take no memory.
    check::<IgnoredAny>(&any(), &list(99), 0);
    let numbers = Rule::array(Rule::integer()).build().unwrap();
    check::<Vec<u8>>(&numbers, &list(99), 0);
    let object = Rule::object([("a", Rule::integer())]).build().unwrap();
    #[derive(Deserialize)]
    struct Object {
        #[expect(dead_code, reason = "only read")]
        a: u8,
    }
    check::<Object>(&object, r#"{"a":1,"skipped":[1,2,[3]]}"#, 0);
}

struct Shape;

impl HasSchema for Shape {
    fn rule() -> Rule {
        Rule::tagged("kind", [("many", Rule::object([("items", Rule::array(Rule::integer()))]))])
    }
}

#[test]
fn counts_values_checked_without_their_type() {
    let texts = Rule::array(Rule::string()).build().unwrap();
    check::<Vec<u8>>(&texts, &list(99), 100);
    let few = Rule::array(Rule::integer()).max_items(9).build().unwrap();
    check::<Vec<u8>>(&few, &list(99), 100);
    let unique = Rule::array(Rule::integer()).unique_items().build().unwrap();
    check::<Vec<u8>>(&unique, "[1,2,3]", 4);
    // These values are all parsed, because a function needs them or a name is
    // duplicated.
    let custom = Rule::any().custom(|_, _, _| true).build().unwrap();
    let long = format!("{}{}", list(99), " ".repeat(1_000));
    check::<Vec<u8>>(&custom, &long, 100);
    let twice = Rule::object([("a", Rule::string())]).build().unwrap();
    let text = format!(r#"{{"a":1,"a":{}}}"#, list(99));
    check::<IgnoredAny>(&twice, &text, 102);
    let shape = Shape::schema().unwrap();
    check::<IgnoredAny>(&shape, r#"{"kind":"many","items":[1,2,3]}"#, 6);
}

#[test]
fn rejects_malformed_json_as_such() {
    let texts = Rule::array(Rule::string()).build().unwrap();
    let custom = Rule::any().custom(|_, _, _| true).build().unwrap();
    for text in ["[1,2,3,4,5,6,7,8,9", "[1,2,3,4,5,6,7,8,,9]", &"[{\"\":".repeat(1_000)] {
        for schema in [&any(), &texts, &custom] {
            let read =
                schema.read_json_within::<Value>(text.as_bytes(), &ValidationOptions::new(), 3);
            assert!(matches!(read, Err(ReadError::Syntax(_))), "{schema:?}: {read:?}");
        }
    }
}

#[test]
fn hostile_text_allocates_nothing_beyond_the_limit() {
    let text = format!("[{}[0]]", "[0],".repeat(262_000));
    let texts = Rule::array(Rule::string()).build().unwrap();
    let custom = Rule::any().custom(|_, _, _| true).build().unwrap();
    for (schema, most) in [(any(), 20_000_000), (texts, 5_000_000), (custom, 1_000)] {
        let info = allocation_counter::measure(|| {
            let options = ValidationOptions::new();
            let read = schema.read_json_within::<Value>(text.as_bytes(), &options, 50_000);
            assert!(matches!(read, Err(ReadError::TooManyValues(50_000))));
        });
        assert!(info.bytes_max <= most, "{schema:?}: {info:?}");
    }
}

fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

#[test]
fn values_use_the_documented_memory() {
    let chain = format!("{}0{}", r#"{"":"#.repeat(126), "}".repeat(126));
    for text in [
        format!("[{}[0]]", "[0],".repeat(9_999)),
        format!("[{}[]]", "[],".repeat(9_999)),
        format!("[{}{{}}]", "{},".repeat(9_999)),
        format!(r#"[{}{{"":0}}]"#, r#"{"":0},"#.repeat(9_999)),
        format!(r#"{{{}"":0}}"#, (0..9_999).map(|n| format!(r#""{n}":0,"#)).collect::<String>()),
        format!("[{}{chain}]", format!("{chain},").repeat(99)),
        format!("[{}\"\"]", r#""a","#.repeat(9_999)),
    ] {
        let values = count(&serde_json::from_str(&text).unwrap());
        let info = allocation_counter::measure(|| {
            let read = any().read_json::<Value>(text.as_bytes(), &ValidationOptions::new());
            assert!(read.is_ok());
        });
        let each = info.bytes_max / values;
        assert!(each <= 400, "{each} bytes each: {}", text.get(..40).unwrap_or_default());
    }
}
