//! Text pairs are converted to the requested type, or left to the slow path.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::json;
use stockade_validation::read_internals::{Field, PairsKind};
use stockade_validation::{Rule, Schema, ValidationOptions};

fn read_by<T: DeserializeOwned + Debug>(schema: &Schema, kind: PairsKind, pairs: &str) -> String {
    let pairs = pairs.split('&').filter_map(|pair| pair.split_once('='));
    // Both kinds of text: borrowed and decoded.
    let pairs = pairs.map(|(name, value)| (name.into(), value.to_owned().into()));
    let mut fields = Field::group(pairs.collect()).into_iter();
    let options = ValidationOptions::new();
    let mut slot = None::<T>;
    if !schema.read_pairs_into(&mut fields, kind, &options, &mut slot) {
        return "-".to_owned();
    }
    format!("{:?}", slot.unwrap())
}

#[track_caller]
fn named<T: DeserializeOwned + Debug>(pairs: &str, expected: &str) {
    let any = Rule::any().build().unwrap();
    assert_eq!(read_by::<T>(&any, PairsKind::Named, pairs), expected, "{pairs}");
}

#[track_caller]
fn ordered<T: DeserializeOwned + Debug>(pairs: &str, expected: &str) {
    let any = Rule::any().build().unwrap();
    assert_eq!(read_by::<T>(&any, PairsKind::Ordered, pairs), expected, "{pairs}");
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only shown")]
enum Sort {
    Up,
    Down(u8),
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Count(u8);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Search {
    n: Option<i8>,
    big: u128,
    wide: i128,
    ratio: f32,
    flag: bool,
    letter: char,
    tags: Vec<String>,
    pair: Option<(u8, u8)>,
    count: Option<Count>,
}

#[test]
fn a_query_is_an_object() {
    named::<Search>(
        "n=-7&big=170141183460469231731687303715884105727&wide=-9&ratio=1.5&flag=true&letter=é\
         &tags=a&pair=1&tags=b&pair=2&count=3&more=x",
        r#"Search { n: Some(-7), big: 170141183460469231731687303715884105727, wide: -9, ratio: 1.5, flag: true, letter: 'é', tags: ["a", "b"], pair: Some((1, 2)), count: Some(Count(3)) }"#,
    );
    for wrong in [
        "n=128",
        "n=x",
        "n=1.5",
        "n=",
        "n=1&n=2",
        "big=-1",
        "wide=x",
        "ratio=NaN",
        "ratio=5.",
        "ratio=1e99",
        "flag=yes",
        "letter=ab",
        "pair=1",
        "pair=1&pair=2&pair=3",
        "count=256",
    ] {
        named::<Search>(wrong, "-");
    }
    named::<BTreeMap<String, Vec<u8>>>("a=1&b=2&a=3", r#"{"a": [1, 3], "b": [2]}"#);
    named::<BTreeMap<u8, bool>>("1=true&2=false", "{1: true, 2: false}");
    named::<BTreeMap<String, serde_json::Value>>(
        "a=1&b=2&a=3",
        r#"{"a": Array [String("1"), String("3")], "b": String("2")}"#,
    );
    named::<BTreeMap<String, Sort>>("a=up", r#"{"a": Up}"#);
    named::<BTreeMap<String, Sort>>("a=down", "-");
    named::<BTreeMap<String, Sort>>("a=other", "-");
    named::<BTreeMap<String, IgnoredAny>>("a=1&b=2&b=3", r#"{"a": IgnoredAny, "b": IgnoredAny}"#);
    // A query is neither a single value nor a list.
    named::<u8>("a=1", "-");
    named::<()>("", "-");
    named::<Vec<(String, String)>>("a=1", "-");
}

#[test]
fn reads_parameters_by_their_type() {
    ordered::<u64>("id=7", "7");
    ordered::<Option<u64>>("id=7", "Some(7)");
    ordered::<Option<u64>>("", "None");
    ordered::<u64>("", "-");
    ordered::<u64>("id=x", "-");
    ordered::<Sort>("sort=up", "Up");
    ordered::<Count>("id=7", "Count(7)");
    ordered::<(u8, String)>("a=1&b=two", r#"(1, "two")"#);
    ordered::<(u8, String)>("a=1", "-");
    ordered::<(u8,)>("a=1&b=2", "-");
    ordered::<Vec<u8>>("a=1&b=2&c=3", "[1, 2, 3]");
    ordered::<Vec<u8>>("", "[]");
    ordered::<BTreeMap<String, u8>>("a=1&b=2", r#"{"a": 1, "b": 2}"#);
    ordered::<()>("", "()");
}

#[test]
fn applies_the_rules_of_the_schema() {
    let schema = Schema::from_value(&json!({
        "n": { "type": "integer", "maximum": 9, "default": 5 },
        "name": { "type": "string", "trim": true, "maxLength": 3 },
    }))
    .unwrap();
    let read = |pairs| read_by::<Judged>(&schema, PairsKind::Named, pairs);
    assert_eq!(read("n=9&name= abc "), r#"Judged { n: 9, name: Some("abc") }"#);
    assert_eq!(read("name=ab"), r#"Judged { n: 5, name: Some("ab") }"#);
    assert_eq!(read("n=10"), "-");
    assert_eq!(read("name=abcd"), "-");
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Judged {
    n: u8,
    name: Option<String>,
}
