//! Tests of `serialize_for_json` with all kinds of data, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_serialization::{Date, deserialize_from_json, serialize_for_json};

#[track_caller]
fn check<T: Serialize + ?Sized>(value: &T, expected: &Value) {
    assert_eq!(serialize_for_json(value).unwrap().to_string(), expected.to_string());
}

fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_500)
}

const TEXT: &str = "1970-01-01T00:00:01.500Z";

#[derive(Debug, Deserialize, PartialEq, Serialize)]
enum Shape {
    Unit,
    Newtype(SystemTime),
    Tuple(u8, Option<SystemTime>),
    Struct { at: SystemTime, side: u8 },
}

#[test]
fn finds_dates_maps_and_sets_at_every_depth() {
    let deep = BTreeMap::from([(moment(), BTreeSet::from([BTreeMap::from([(1, moment())])]))]);
    check(&deep, &json!({ TEXT: [{ "1": TEXT }] }));
    check(&(moment(), Some(vec![moment()])), &json!([TEXT, [TEXT]]));
    check(&Date::MAX, &json!("+275760-09-13T00:00:00.000Z"));
}

#[test]
fn variants_are_as_in_serde_json_with_dates_inside() {
    let shapes = [
        (Shape::Unit, json!("Unit")),
        (Shape::Newtype(moment()), json!({ "Newtype": TEXT })),
        (Shape::Tuple(1, Some(moment())), json!({ "Tuple": [1, TEXT] })),
        (Shape::Tuple(1, None), json!({ "Tuple": [1, null] })),
        (Shape::Struct { at: moment(), side: 2 }, json!({ "Struct": { "at": TEXT, "side": 2 } })),
    ];
    for (shape, expected) in shapes {
        check(&shape, &expected);
        assert_eq!(deserialize_from_json::<Shape>(expected).unwrap(), shape);
    }
}

#[test]
fn scalars_are_as_in_serde_json_if_it_supports_them() {
    check(&(-1_i8, 1.5_f64, true, 'c', "s", ()), &json!([-1, 1.5, true, "c", "s", null]));
    check(&[0.1_f32, 16_777_216.0, f32::MIN_POSITIVE], &json!([0.1, 16777216.0, 1.1754944e-38]));
    check(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY], &json!([null, null, null]));
    check(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY], &json!([null, null, null]));
    check(&[u128::from(u64::MAX), u128::MAX], &json!([u64::MAX, u128::MAX.to_string()]));
    check(&[i128::from(i64::MIN), i128::MIN], &json!([i64::MIN, i128::MIN.to_string()]));
}

struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[test]
fn bytes_are_an_array_of_numbers() {
    check(&Bytes(&[0, 255]), &json!([0, 255]));
}

#[test]
fn raw_json_passes_through() {
    let raw = RawValue::from_string(r#"{"b":[1,{"a":null}]}"#.to_owned()).unwrap();
    check(&[&raw], &json!([{ "b": [1, { "a": null }] }]));
}

#[test]
fn another_struct_with_a_reserved_name_stays_a_struct() {
    #[derive(Serialize)]
    struct SystemTime {
        secs_since_epoch: u8,
    }
    check(&SystemTime { secs_since_epoch: 1 }, &json!({ "secs_since_epoch": 1 }));
}

/// serde rejects the value before this crate receives it. A field with `date`
/// accepts it.
#[test]
fn a_system_time_before_1970_is_an_error_of_serde() {
    let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    let error = serialize_for_json(&before).unwrap_err();
    assert_eq!(ApiError::from(error).status(), 500);
    let error = deserialize_from_json::<SystemTime>(json!("1969-12-31")).unwrap_err();
    assert!(error.to_string().contains("expected a date in 1970 or later"), "{error}");
}

#[test]
fn nested_dates_out_of_range_are_errors() {
    let late = SystemTime::UNIX_EPOCH + Duration::from_millis(8_640_000_000_000_001);
    assert_eq!(serialize_for_json(&[late]).unwrap_err().to_string(), "date is out of range");
}

#[test]
fn reads_a_system_time_from_text_and_from_serde() {
    let read: SystemTime = deserialize_from_json(json!(TEXT)).unwrap();
    assert_eq!(read, moment());
    let read: SystemTime = deserialize_from_json(serde_json::to_value(read).unwrap()).unwrap();
    assert_eq!(read, moment());
}

#[test]
fn mismatching_data_is_a_400() {
    #[track_caller]
    fn check<T: serde::de::DeserializeOwned + std::fmt::Debug>(value: Value, expected: &str) {
        let error = ApiError::from(deserialize_from_json::<T>(value).unwrap_err());
        assert_eq!(error.status(), 400);
        assert!(error.message().contains(expected), "{error}");
    }
    check::<u8>(json!(256), "invalid value: integer `256`, expected u8");
    check::<SystemTime>(json!("soon"), r#""soon" is not a readable date"#);
    check::<(u8, u8)>(json!([1, 2, 3]), "invalid length 3");
    check::<Shape>(json!({ "Unit": null, "Newtype": TEXT }), "expected a variant");
    check::<Shape>(json!("Circle"), "unknown variant `Circle`");
    check::<u128>(json!("01"), "expected u128");
    check::<f64>(json!(null), "invalid type: unit value");
}
