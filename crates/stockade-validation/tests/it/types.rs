//! Checks that types of all kinds are read like in serde_json, on the fast and
//! the slow path.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use stockade_validation::{ReadError, Rule, ValidationOptions, read_value};

use crate::support::lines;

fn shown<T: Debug>(result: Result<T, ReadError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(ReadError::Invalid(errors)) => lines(&errors).join("\n"),
        Err(error) => error.to_string(),
    }
}

/// Reads a text in all ways, which must agree: on the fast path, from parsed
/// data, and without a schema.
#[track_caller]
fn read<T: DeserializeOwned + Debug>(text: &str) -> String {
    let options = ValidationOptions::new();
    let quick = Rule::any().build().unwrap();
    let slow = Rule::any().custom(|_, _, _| true).build().unwrap();
    let first = shown(quick.read_json::<T>(text.as_bytes(), &options));
    assert_eq!(shown(slow.read_json::<T>(text.as_bytes(), &options)), first, "{text}");
    if let Ok(data) = serde_json::from_str::<Value>(text) {
        assert_eq!(shown(read_value::<T>(&data)), first, "{text}");
    }
    first
}

/// Checks that all ways agree with serde_json on the value, or on the failure.
#[track_caller]
fn agree<T: DeserializeOwned + Debug>(texts: &[&str]) {
    for text in texts {
        let actual = read::<T>(text);
        match serde_json::from_str::<T>(text) {
            Ok(expected) => assert_eq!(actual, format!("{expected:?}"), "{text}"),
            Err(error) => assert!(actual.contains("(type)"), "{text}: {actual}, {error}"),
        }
    }
}

#[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
enum Plain {
    Unit,
    One(u8),
    Two(u8, String),
    Named { a: u8, b: Option<String> },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only shown")]
enum Internal {
    Unit,
    One(BTreeMap<String, i64>),
    Named { a: u8, b: Option<String> },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "lowercase")]
#[expect(dead_code, reason = "only shown")]
enum Adjacent {
    Unit,
    One(u8),
    Two(u8, String),
    Named { a: u8, b: Option<String> },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Untagged {
    Unit,
    Flag(bool),
    Small(i8),
    Float(f64),
    Text(String),
    Pair(u8, u8),
    Named { a: u8 },
    Other(Value),
}

#[test]
fn enums_of_all_taggings() {
    agree::<Plain>(&[
        r#""unit""#,
        r#"{"unit":null}"#,
        r#"{"unit":1}"#,
        r#"{"one":7}"#,
        r#""one""#,
        r#"{"one":"x"}"#,
        r#"{"two":[1,"b"]}"#,
        r#"{"two":[1]}"#,
        r#"{"two":[1,"b",2]}"#,
        r#"{"named":{"b":"x","a":1}}"#,
        r#"{"named":{"a":1,"c":2}}"#,
        r#"{"named":{}}"#,
        r#"{"one":7,"unit":null}"#,
        "{}",
        r#""other""#,
        r#"{"other":1}"#,
        "7",
        "null",
        "[]",
    ]);
    agree::<Internal>(&[
        r#"{"kind":"unit"}"#,
        r#"{"kind":"unit","more":1}"#,
        r#"{"x":1,"kind":"one","y":-2}"#,
        r#"{"b":"x","kind":"named","a":1}"#,
        r#"{"kind":"named"}"#,
        r#"{"kind":"other"}"#,
        r#"{"kind":7}"#,
        "{}",
        "7",
    ]);
    agree::<Adjacent>(&[
        r#"{"kind":"unit"}"#,
        r#"{"kind":"one","data":1}"#,
        r#"{"data":1,"kind":"one"}"#,
        r#"{"data":[1,"b"],"kind":"two"}"#,
        r#"{"kind":"named","data":{"a":1}}"#,
        r#"{"kind":"one"}"#,
        r#"{"kind":"one","data":"x"}"#,
        r#"{"kind":"other","data":1}"#,
    ]);
    agree::<Vec<Untagged>>(&[
        r#"[null, true, 1, -200, 1.5, "é\n", [1,2], [1,2,3], {"a":1}, {"a":"b"}]"#,
    ]);
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Inner {
    c: u8,
    d: Option<Vec<i32>>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Outer {
    a: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(default = "seven")]
    e: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

fn seven() -> u8 {
    7
}

#[test]
fn flattened_structs() {
    agree::<Outer>(&[
        r#"{"a":1,"c":2}"#,
        r#"{"x":[1,{"y":null}],"d":[1,-2],"c":2,"a":1,"e":3}"#,
        r#"{"a":1}"#,
        r#"{"a":1,"c":"x"}"#,
    ]);
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Newtype(Option<i8>);

#[derive(Debug, Deserialize)]
struct Nothing;

#[test]
fn scalars_and_their_containers() {
    agree::<Vec<Newtype>>(&["[1, null, -128]", "[128]", r#"["1"]"#]);
    agree::<Nothing>(&["null", "{}", "0"]);
    agree::<Option<Option<u8>>>(&["null", "1", "true"]);
    agree::<Vec<char>>(&[r#"["a","é","\ud83d\ude00"]"#, r#"["ab"]"#, r#"[""]"#]);
    agree::<i128>(&["1", "-1", "18446744073709551615", "1.5"]);
    agree::<u128>(&["1", "-1", "18446744073709551615", r#""1""#]);
    agree::<f32>(&["1", "-1.5", "1e38", r#""1""#]);
    agree::<bool>(&["true", "false", "null", "1"]);
    agree::<(u8, String, [i8; 2])>(&[r#"[1,"a",[1,2]]"#, r#"[1,"a",[1]]"#, "[]", "{}"]);
    agree::<Box<[Box<str>]>>(&[r#"["a","\u0062"]"#]);
    agree::<IgnoredAny>(&[r#"{"a":[1,{"b":"\n"}],"c":1.5}"#]);
    agree::<std::time::Duration>(&[r#"{"secs":1,"nanos":2}"#, r#"{"secs":1}"#]);
}

#[test]
fn names_of_members_are_read_as_their_type() {
    agree::<BTreeMap<i8, u8>>(&[
        r#"{"1":1,"-2":2}"#,
        r#"{"300":1}"#,
        r#"{"x":1}"#,
        r#"{"":1}"#,
        r#"{"1 ":1}"#,
        r#"{" 1":1}"#,
    ]);
    agree::<BTreeMap<u128, u8>>(&[r#"{"1":1}"#, r#"{"-1":1}"#]);
    agree::<BTreeMap<bool, u8>>(&[r#"{"true":1,"false":0}"#, r#"{"yes":1}"#]);
    agree::<BTreeMap<Plain, u8>>(&[r#"{"unit":1}"#, r#"{"one":1}"#, r#"{"other":1}"#]);
    agree::<BTreeMap<char, u8>>(&[r#"{"a":1}"#, r#"{"ab":1}"#]);
    agree::<BTreeMap<Option<String>, u8>>(&[r#"{"a\n":1}"#]);
    assert_eq!(read::<HashMap<u8, u8>>(r#"{"x":1}"#), "x: Expected integer, got string (type)");
}

/// Bytes from a text or a list.
#[derive(Debug)]
#[expect(dead_code, reason = "only shown")]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
        Ok(Bytes(text.into()))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Bytes, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(Bytes(bytes))
    }
}

#[test]
fn bytes_are_a_text_or_a_list() {
    assert_eq!(read::<Bytes>(r#""ab""#), "Bytes([97, 98])");
    assert_eq!(read::<Vec<Bytes>>(r#"[[1,2],"\n"]"#), "[Bytes([1, 2]), Bytes([10])]");
    assert_eq!(read::<Vec<Bytes>>("[7]"), "[0]: Expected another type, got integer (type)");
}

#[test]
fn a_raw_value_keeps_its_text() {
    agree::<Box<RawValue>>(&["1", r#"[1,{"a":"b"}]"#]);
    agree::<BTreeMap<String, Box<RawValue>>>(&[r#"{"a":{"b":[null]},"c":"d"}"#]);
}

#[test]
fn a_struct_is_not_read_from_an_array_at_any_depth() {
    assert_eq!(read::<Vec<Inner>>("[[1,[]]]"), "[0]: Expected object, got array (type)");
    assert_eq!(read::<Plain>(r#"{"named":[1,null]}"#), "named: Expected object, got array (type)");
}

#[test]
fn reports_mismatches_with_their_location() {
    let named = r#"{"named":{"a":1,"b":7}}"#;
    assert_eq!(
        read::<Vec<Plain>>(&format!("[{named}]")),
        "[0].named.b: Expected string, got integer (type)"
    );
    assert_eq!(read::<Plain>(r#""other""#), ": Must be one of: unit, one, two, named (type)");
    assert_eq!(read::<Plain>(r#""one""#), ": Expected object, got string (type)");
    assert_eq!(read::<Plain>("[]"), ": Expected another type, got array (type)");
    assert_eq!(
        read::<(u8, u8)>("[1,2,3]"),
        ": Invalid length 3, expected fewer elements in array (type)"
    );
    assert_eq!(read::<(u8, u8)>("[1]"), ": Invalid length 1, expected a tuple of size 2 (type)");
    assert_eq!(read::<char>(r#""ab""#), ": The string is out of range (type)");
    assert_eq!(read::<f32>("null"), ": Expected number, got null (type)");
    assert_eq!(read::<bool>("1.5"), ": Expected boolean, got number (type)");
    assert_eq!(read::<Outer>(r#"{"a":1,"c":300}"#), ": The integer is out of range (type)");
    let long = "n".repeat(10_000);
    let error = read::<BTreeMap<String, u8>>(&format!(r#"{{"{long}":""}}"#));
    assert!(
        error.len() < 1_000 && error.ends_with("…: Expected integer, got string (type)"),
        "{error}"
    );
}

#[test]
fn type_messages_begin_with_a_capital() {
    #[derive(Debug)]
    struct Even;

    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let number = u64::deserialize(deserializer)?;
            let odd = || serde::de::Error::custom(format_args!("{number} is odd"));
            (number % 2 == 0).then_some(Self).ok_or_else(odd)
        }
    }

    assert_eq!(read::<Vec<Even>>("[2, 3]"), "[1]: 3 is odd (type)");
    assert_eq!(
        read::<BTreeMap<String, Even>>(r#"{"a":"é"}"#),
        "a: Expected integer, got string (type)"
    );
}
