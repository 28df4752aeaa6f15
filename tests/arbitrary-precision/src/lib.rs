//! Tests for deserialization when serde_json preserves all digits of a number.
//!
//! With its feature `arbitrary_precision`, serde_json passes some numbers as
//! objects. A flattened or tagged type stores such an object before the type of
//! the field is known, and an `f64` cannot be read from it.

#![cfg(test)]

use std::collections::BTreeMap;
use std::fmt::Debug;

use rust_decimal::Decimal;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stockade_serialization::deserialize_from_json;
use stockade_validation::{HasSchema, ReadError, Schema, Unchecked, ValidationOptions, read_value};

/// Reads JSON from text and from parsed data, and checks that both results are
/// equal.
#[track_caller]
fn read<T: HasSchema + DeserializeOwned + Debug>(text: &str) -> Result<T, String> {
    let (schema, options) = (T::schema().unwrap(), ValidationOptions::new());
    let from_text = schema.read_json::<T>(text.as_bytes(), &options).map_err(message);
    let value: Value = serde_json::from_str(text).unwrap();
    let from_value = schema.read_value::<T>(&value, &options).map_err(message);
    assert_eq!(format!("{from_text:?}"), format!("{from_value:?}"), "{text}");
    from_text
}

fn message(error: ReadError) -> String {
    match error {
        ReadError::Invalid(errors) => format!("{}: {}", errors[0].field, errors[0].message),
        other => other.to_string(),
    }
}

#[derive(Debug, Deserialize, Schema)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Debug, Deserialize, Schema)]
struct Inner {
    ratio: f64,
    single: Option<f32>,
    count: Option<u8>,
    large: Option<u64>,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "kind")]
enum Tagged {
    Circle { radius: f64 },
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Radius(f64),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(#[expect(dead_code, reason = "only read")] String),
}

#[derive(Debug, Deserialize, Schema)]
struct Opaque {
    #[schema(opaque)]
    id: Untagged,
}

#[derive(Debug, Deserialize, Schema)]
struct Union {
    id: Untagged,
}

/// Numbers that serde_json may pass as objects, as text and value.
const NUMBERS: [(&str, f64); 10] = [
    ("2.0", 2.0),
    ("1e2", 100.0),
    ("1E+2", 100.0),
    ("-1.50", -1.5),
    ("0.10", 0.1),
    ("1.25e-3", 0.00125),
    ("0.1234567890123456789", 0.123_456_789_012_345_68),
    ("123456789012345678901234567890", 1.234_567_890_123_456_8e29),
    ("3", 3.0),
    ("0.5", 0.5),
];

#[test]
fn reads_floats_in_every_form_of_type() {
    assert_eq!(serde_json::from_str::<Value>("1.10").unwrap().to_string(), "1.10");
    for (text, expected) in NUMBERS {
        assert_eq!(read::<f64>(text), Ok(expected), "{text}");
        let flat: Flat = read(&format!(r#"{{"id":1,"ratio":{text}}}"#)).unwrap();
        assert_eq!((flat.id, flat.inner.ratio), (1, expected), "{text}");
        let Tagged::Circle { radius } =
            read(&format!(r#"{{"kind":"Circle","radius":{text}}}"#)).unwrap();
        assert_eq!(radius, expected, "{text}");
        // The order determines if serde buffers the content.
        for object in
            [format!(r#"{{"t":"Radius","c":{text}}}"#), format!(r#"{{"c":{text},"t":"Radius"}}"#)]
        {
            let Adjacent::Radius(radius) = read(&object).unwrap();
            assert_eq!(radius, expected, "{object}");
        }
        let union: Union = read(&format!(r#"{{"id":{text}}}"#)).unwrap();
        assert!(matches!(union.id, Untagged::Number(number) if number == expected), "{text}");
        let opaque: Opaque = read(&format!(r#"{{"id":{text}}}"#)).unwrap();
        assert!(matches!(opaque.id, Untagged::Number(number) if number == expected), "{text}");
        let single = read::<Flat>(&format!(r#"{{"id":1,"ratio":1,"single":{text}}}"#)).unwrap();
        assert!(single.inner.single.is_some(), "{text}");
    }
    assert!(matches!(read::<Opaque>(r#"{"id":"a"}"#).unwrap().id, Untagged::Text(_)));
}

#[test]
fn whole_numbers_are_read_from_floats() {
    for text in ["7", "7.0", "7.00", "70e-1", "0.7e1"] {
        let flat: Flat = read(&format!(r#"{{"id":{text},"ratio":1,"count":{text}}}"#)).unwrap();
        assert_eq!((flat.id, flat.inner.count), (7, Some(7)), "{text}");
    }
    let flat: Flat = read(r#"{"id":1,"ratio":1,"large":18446744073709551615}"#).unwrap();
    assert_eq!(flat.inner.large, Some(u64::MAX));
}

#[test]
fn names_invalid_numbers() {
    for (text, expected) in [
        (r#"{"id":1,"ratio":"2.0"}"#, "ratio: Expected number, got string"),
        (r#"{"id":1,"ratio":1,"count":1.50}"#, "count: Expected integer, got number"),
        (r#"{"id":1,"ratio":1,"count":300}"#, "count: Number must be at most 255"),
        (
            r#"{"id":1,"ratio":1,"large":18446744073709551616}"#,
            "large: Number must be at most 18446744073709551615",
        ),
        (r#"{"id":1}"#, "ratio: Required field 'ratio' is missing"),
    ] {
        assert_eq!(read::<Flat>(text).unwrap_err(), expected, "{text}");
    }
    let twice = br#"{"id":1,"id":1.10,"ratio":1.10}"#;
    let schema = Flat::schema().unwrap();
    assert!(schema.read_json::<Flat>(twice, &ValidationOptions::new()).is_err());
}

#[test]
fn serialization_preserves_numbers() {
    for (text, expected) in NUMBERS {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(deserialize_from_json::<f64>(value(text)).unwrap(), expected, "{text}");
        let flat = value(&format!(r#"{{"id":1,"ratio":{text}}}"#));
        assert_eq!(deserialize_from_json::<Flat>(flat).unwrap().inner.ratio, expected, "{text}");
        let tagged = value(&format!(r#"{{"kind":"Circle","radius":{text}}}"#));
        let Tagged::Circle { radius } = deserialize_from_json(tagged).unwrap();
        assert_eq!(radius, expected, "{text}");
        let kept: Value = deserialize_from_json(value(text)).unwrap();
        assert_eq!(kept, value(text));
    }
}

#[derive(Debug, Deserialize, Schema)]
struct Priced {
    price: Decimal,
    #[serde(flatten)]
    more: More,
}

#[derive(Debug, Deserialize, Schema)]
struct More {
    discount: Option<Decimal>,
}

#[test]
fn decimals_are_read_from_numbers_and_texts() {
    for (text, expected) in
        [("1.10", "1.1"), ("2.0", "2"), ("1e2", "100"), ("7", "7"), ("\"1.10\"", "1.10")]
    {
        assert_eq!(read::<Decimal>(text).unwrap().normalize(), decimal(expected), "{text}");
        let object = format!(r#"{{"price":{text},"discount":{text}}}"#);
        let priced: Priced = read(&object).unwrap();
        assert_eq!(priced.price.normalize(), decimal(expected), "{text}");
        assert_eq!(priced.more.discount.map(|it| it.normalize()), Some(decimal(expected)));
    }
}

fn decimal(text: &str) -> Decimal {
    text.parse::<Decimal>().unwrap().normalize()
}

#[derive(Debug, Deserialize, Schema)]
struct Open {
    value: Value,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[test]
fn untyped_values_keep_their_digits() {
    let text = r#"{"value":1.10,"long":0.1234567890123456789,"list":[2.0,{"a":1e2}]}"#;
    let open: Open = read(text).unwrap();
    assert_eq!(open.value.to_string(), "1.10");
    assert_eq!(open.rest["long"].to_string(), "0.1234567890123456789");
    assert_eq!(open.rest["list"], serde_json::from_str::<Value>(r#"[2.0,{"a":1e2}]"#).unwrap());
    let map: BTreeMap<String, Value> = read(r#"{"a":1.10}"#).unwrap();
    assert_eq!(map["a"].to_string(), "1.10");
}

#[derive(Debug, Deserialize, Schema)]
struct Defaulted {
    #[serde(flatten)]
    inner: DefaultedInner,
}

#[derive(Debug, Deserialize, Schema)]
struct DefaultedInner {
    #[schema(default = 2.0)]
    ratio: f64,
    #[schema(default = 1)]
    count: u8,
}

#[test]
fn defaults_are_read() {
    let defaulted: Defaulted = read("{}").unwrap();
    assert_eq!((defaulted.inner.ratio, defaulted.inner.count), (2.0, 1));
    let defaulted: DefaultedInner = read("{}").unwrap();
    assert_eq!((defaulted.ratio, defaulted.count), (2.0, 1));
}

#[test]
fn texts_of_a_query_are_read() {
    let (schema, options) = (Flat::schema().unwrap(), ValidationOptions::query());
    for (text, expected) in NUMBERS {
        let query = json!({ "id": "1", "ratio": text });
        let flat: Flat = schema.read_value(&query, &options).unwrap();
        assert_eq!(flat.inner.ratio, expected, "{text}");
    }
}

#[test]
fn integers_of_128_bits_stop_at_64_bits() {
    assert_eq!(read::<u128>("18446744073709551615"), Ok(u64::MAX.into()));
    assert!(read::<u128>("18446744073709551616").is_err());
    assert_eq!(read::<i128>("-9223372036854775808"), Ok(i64::MIN.into()));
    assert!(read::<i128>("-9223372036854775809").is_err());
    // Without a schema, the type decides.
    assert!(read_value::<Unchecked<u128>>(&json!(1)).is_ok());
}

#[test]
fn numbers_are_compared_by_value() {
    let schema = Schema::from_value(&json!({
        "type": "object",
        "properties": {
            "a": { "type": "integer", "minimum": 2, "maximum": 100 },
            "b": { "enum": [1.5, 100] },
            "c": { "type": "array", "uniqueItems": true },
        },
    }))
    .unwrap();
    let check = |text: &str| {
        let value = serde_json::from_str(text).unwrap();
        schema.check(&value, &ValidationOptions::new()).unwrap().len()
    };
    assert_eq!(check(r#"{"a":2.0,"b":1.50,"c":[1,2.0]}"#), 0);
    assert_eq!(check(r#"{"a":1e2,"b":1e2,"c":[1]}"#), 0);
    assert_eq!(check(r#"{"a":1.990,"b":1.501,"c":[1,1.0]}"#), 3);
}
