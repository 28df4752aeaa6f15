//! Tests of sets as arrays, in both directions.

use std::collections::{BTreeSet, HashSet};
use std::time::SystemTime;

use serde_json::json;
use stockade_errors::ApiError;
use stockade_serialization::{deserialize_set, serialize_for_json, serialize_set};

#[test]
fn a_set_is_an_array_in_its_order() {
    let set = BTreeSet::from([(2, SystemTime::UNIX_EPOCH), (1, SystemTime::UNIX_EPOCH)]);
    let value = serialize_set(&set).unwrap();
    let text = "1970-01-01T00:00:00.000Z";
    assert_eq!(value, json!([[1, text], [2, text]]));
    assert_eq!(serialize_for_json(&set).unwrap(), value);
    assert_eq!(deserialize_set::<BTreeSet<(i32, SystemTime)>>(value).unwrap(), set);
}

#[test]
fn a_set_removes_duplicates() {
    let set: HashSet<u8> = deserialize_set(json!([1, 2, 1])).unwrap();
    assert_eq!(set, HashSet::from([2, 1]));
    let list: Vec<u8> = deserialize_set(json!([1, 2, 1])).unwrap();
    assert_eq!(list, [1, 2, 1]);
}

#[test]
fn non_arrays_and_invalid_elements_are_a_400() {
    for value in [json!(null), json!({}), json!("[]"), json!(1), json!([1, "2"]), json!([256])] {
        let error = ApiError::from(deserialize_set::<BTreeSet<u8>>(value).unwrap_err());
        assert_eq!(error.status(), 400);
    }
}
