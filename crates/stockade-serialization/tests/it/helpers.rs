//! Tests of the helpers with options.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_serialization::{
    CustomSerialization, Date, Deserialization, Serialization, SerializationError,
    SerializationOptions,
};

fn both(options: SerializationOptions) -> (Serialization, Deserialization) {
    let options = std::sync::Arc::new(options);
    (Serialization::new(options.clone()), Deserialization::new(options))
}

#[track_caller]
fn check_off<T: std::fmt::Debug>(outcome: Result<T, SerializationError>, option: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), format!("disabled by the option `{option}`"));
    assert_eq!(ApiError::from(error).status(), 500);
}

#[test]
fn all_helpers_are_enabled_by_default() {
    let (serialize, deserialize) = both(SerializationOptions::new());
    let text = serialize.date(&SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(deserialize.date::<SystemTime>(&text).unwrap(), SystemTime::UNIX_EPOCH);
    let map = BTreeMap::from([(1, 2)]);
    let back: BTreeMap<i32, i32> = deserialize.map(serialize.map(&map).unwrap()).unwrap();
    assert_eq!(back, map);
    let set = BTreeSet::from([1, 2]);
    let back: BTreeSet<i32> = deserialize.set(serialize.set(&set).unwrap()).unwrap();
    assert_eq!(back, set);
}

#[test]
fn a_disabled_helper_names_its_option() {
    let (serialize, deserialize) = both(SerializationOptions::new().enable_date(false));
    check_off(serialize.date(&Date::MAX), "enable_date");
    check_off(deserialize.date::<Date>("1970-01-01"), "enable_date");
    assert!(serialize.set(&BTreeSet::from([Date::MAX])).is_ok());

    let (serialize, deserialize) = both(SerializationOptions::new().enable_map(false));
    check_off(serialize.map(&BTreeMap::from([(1, 2)])), "enable_map");
    check_off(deserialize.map::<BTreeMap<u8, u8>, _, _>(json!({})), "enable_map");

    let custom = CustomSerialization::new().serialize_set(|_| Ok::<_, ApiError>(Value::Null));
    let options = SerializationOptions::new().enable_set(false).custom(custom);
    let (serialize, deserialize) = both(options);
    check_off(serialize.set(&[1]), "enable_set");
    check_off(deserialize.set::<Vec<u8>>(json!([])), "enable_set");
}

#[test]
fn reads_options_from_json_and_rejects_unknown_ones() {
    let read = |value: Value| serde_json::from_value::<SerializationOptions>(value);
    let options =
        read(json!({ "enableDate": false, "enableMap": true, "enableSet": false })).unwrap();
    assert_eq!((options.enable_date, options.enable_map, options.enable_set), (false, true, false));
    assert!(read(json!({})).unwrap().enable_set);
    assert!(read(json!({ "enable_date": true })).is_err());
    assert!(read(json!({ "custom": {} })).is_err());
}

#[test]
fn custom_functions_replace_helpers() {
    let custom = CustomSerialization::new()
        .serialize_date(|date| Ok::<_, ApiError>(format!("@{}", date.as_millis())))
        .deserialize_date(|text| {
            let digits = text.strip_prefix('@').and_then(|digits| digits.parse().ok());
            let milliseconds = digits.ok_or_else(|| ApiError::new(400, "no @"))?;
            Date::from_millis(milliseconds).map_err(ApiError::from)
        })
        .serialize_map(|entries| Ok::<_, ApiError>(json!(entries)))
        .deserialize_map(serde_json::from_value::<Vec<(Value, Value)>>)
        .serialize_set(|elements| Ok::<_, ApiError>(json!({ "set": elements })))
        .deserialize_set(|mut value| serde_json::from_value::<Vec<Value>>(value["set"].take()));
    let (serialize, deserialize) = both(SerializationOptions::new().custom(custom));

    assert_eq!(serialize.date(&SystemTime::UNIX_EPOCH).unwrap(), "@0");
    assert_eq!(deserialize.date::<Date>("@-7").unwrap().as_millis(), -7);

    let map = BTreeMap::from([((1, 2), SystemTime::UNIX_EPOCH)]);
    let value = serialize.map(&map).unwrap();
    assert_eq!(value, json!([[[1, 2], "1970-01-01T00:00:00.000Z"]]));
    let back: BTreeMap<(i32, i32), SystemTime> = deserialize.map(value).unwrap();
    assert_eq!(back, map);

    let set = BTreeSet::from([1, 2]);
    let value = serialize.set(&set).unwrap();
    assert_eq!(value, json!({ "set": [1, 2] }));
    assert_eq!(deserialize.set::<BTreeSet<i32>>(value).unwrap(), set);
}

#[test]
fn an_error_of_a_custom_function_keeps_its_status() {
    let custom = CustomSerialization::new()
        .deserialize_date(|_| Err(ApiError::new(422, "no date today")))
        .serialize_set(|_| Err("disk full"));
    let (serialize, deserialize) = both(SerializationOptions::new().custom(custom));
    let error = ApiError::from(deserialize.date::<Date>("x").unwrap_err());
    assert_eq!((error.status(), error.message()), (422, "no date today"));
    let error = ApiError::from(serialize.set(&[1]).unwrap_err());
    assert_eq!((error.status(), error.message()), (500, "disk full"));
}
