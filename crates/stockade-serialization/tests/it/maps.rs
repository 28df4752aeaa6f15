//! Tests of maps and the text of their keys, in both directions.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_serialization::{
    Date, deserialize_from_json, deserialize_map, serialize_for_json, serialize_map,
};

#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
struct Point {
    x: i8,
    y: i8,
}

#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
struct Id(u32);

#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
enum Colour {
    Red,
    #[serde(rename = "7")]
    Seven,
    Gray(u8),
}

#[track_caller]
fn check_key<K: Clone + Debug + DeserializeOwned + Ord + Serialize>(key: K, text: &str) {
    let map = BTreeMap::from([(key, SystemTime::UNIX_EPOCH)]);
    let value = serialize_map(&map).unwrap();
    assert_eq!(value, json!({ text: "1970-01-01T00:00:00.000Z" }));
    assert_eq!(serialize_for_json(&map).unwrap(), value);
    let back: BTreeMap<K, SystemTime> = deserialize_map(value.clone()).unwrap();
    assert_eq!(back, map);
    assert_eq!(deserialize_from_json::<BTreeMap<K, SystemTime>>(value).unwrap(), map);
}

#[test]
fn keys_become_text_and_are_read_back() {
    check_key("text".to_owned(), "text");
    check_key(String::new(), "");
    check_key(-7_i8, "-7");
    check_key(u64::MAX, "18446744073709551615");
    check_key(u128::MAX, "340282366920938463463374607431768211455");
    check_key(i128::MIN, "-170141183460469231731687303715884105728");
    check_key(true, "true");
    check_key('é', "é");
    check_key('7', "7");
    check_key((), "null");
    check_key(Some(7), "7");
    check_key(None::<u8>, "null");
    check_key(SystemTime::UNIX_EPOCH + Duration::from_millis(1), "1970-01-01T00:00:00.001Z");
    check_key(Date::MIN, "-271821-04-20T00:00:00.000Z");
    check_key(Id(7), "7");
    check_key((1, "a".to_owned()), r#"[1,"a"]"#);
    check_key(vec![Some(1), None], "[1,null]");
    check_key(Point { x: 1, y: -1 }, r#"{"x":1,"y":-1}"#);
    check_key(Colour::Red, "Red");
    check_key(Colour::Seven, "7");
    check_key(Colour::Gray(9), r#"{"Gray":9}"#);
    check_key(BTreeMap::from([(1, 2)]), r#"{"1":2}"#);
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Number(f64);

#[test]
fn floats_can_be_keys() {
    let pairs = [Number(1.0), Number(-0.5), Number(1e300)].map(|key| (key, 1_u8));
    let map: Vec<(Number, u8)> = pairs.into();
    let object = json!({ "1.0": 1, "-0.5": 1, "1e300": 1 });
    assert_eq!(deserialize_map::<Vec<(Number, u8)>, _, _>(object).unwrap(), map);
}

#[test]
fn rejects_invalid_keys_with_400() {
    #[track_caller]
    fn check<K: DeserializeOwned + Debug>(key: &str) {
        let error = deserialize_map::<Vec<(K, u8)>, _, _>(json!({ key: 1 })).unwrap_err();
        assert_eq!(ApiError::from(error).status(), 400, "{key}");
    }
    for key in ["", "x", "07", "+7", "-0", " 7", "7.0", "256", "-1", "7e0"] {
        check::<u8>(key);
    }
    for key in ["", "True", "1", "null"] {
        check::<bool>(key);
    }
    for key in ["", "NaN", "inf", "+1", "1.", "null", "\"1\""] {
        check::<f64>(key);
    }
    check::<char>("ab");
    check::<SystemTime>("soon");
    check::<SystemTime>("1969-12-31");
    check::<(u8, u8)>("[1]");
    check::<(u8, u8)>("1,2");
    check::<Point>("{}");
    check::<Colour>("Blue");
    check::<Colour>("{\"Gray\":9,\"Red\":null}");
    check::<Id>("x");
}

#[test]
fn a_value_that_is_not_an_object_is_a_400() {
    for value in [json!(null), json!([]), json!("{}"), json!(1)] {
        let error = deserialize_map::<HashMap<String, Value>, _, _>(value).unwrap_err();
        assert_eq!(error.to_string(), "cannot be read: expected an object");
        assert_eq!(ApiError::from(error).status(), 400);
    }
}

/// No entry is lost silently.
#[test]
fn two_keys_with_the_same_text_are_a_500() {
    let map = BTreeMap::from([(None, 1), (Some("null"), 2)]);
    for error in [serialize_map(&map).unwrap_err(), serialize_for_json(&map).unwrap_err()] {
        assert_eq!(error.to_string(), r#"several keys become "null""#);
        assert_eq!(ApiError::from(error).status(), 500);
    }
}

#[test]
fn the_order_of_a_map_is_preserved() {
    let value = json!({ "9": 1, "10": 2, "1": 3 });
    let pairs: Vec<(u8, u8)> = deserialize_map(value).unwrap();
    assert_eq!(pairs, [(9, 1), (10, 2), (1, 3)]);
}

/// These names are special in JavaScript; here they are ordinary keys.
#[test]
fn special_javascript_names_are_keys() {
    let map = BTreeMap::from([("__proto__", 1), ("constructor", 2)]);
    assert_eq!(serialize_map(&map).unwrap().to_string(), r#"{"__proto__":1,"constructor":2}"#);
}
