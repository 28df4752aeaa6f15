//! Tests of the text of dates, in both directions.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade_errors::ApiError;
use stockade_serialization::{Date, deserialize_date, serialize_date};

#[track_caller]
fn check_both(milliseconds: i64, text: &str) {
    let date = Date::from_millis(milliseconds).unwrap();
    assert_eq!(serialize_date(&date).unwrap(), text);
    assert_eq!(deserialize_date::<Date>(text).unwrap(), date, "{text}");
}

#[track_caller]
fn check_read(text: &str, expected: &str) {
    assert_eq!(deserialize_date::<Date>(text).unwrap().to_string(), expected, "{text}");
}

#[track_caller]
fn check_unreadable(text: &str) {
    let error = ApiError::from(deserialize_date::<Date>(text).expect_err(text));
    assert_eq!(error.status(), 400);
    assert!(error.message().ends_with("is not a readable date"), "{error}");
}

/// The texts are the output of `new Date(milliseconds).toISOString()`.
#[test]
fn texts_match_javascript() {
    check_both(0, "1970-01-01T00:00:00.000Z");
    check_both(-1, "1969-12-31T23:59:59.999Z");
    check_both(1_709_210_096_789, "2024-02-29T12:34:56.789Z");
    check_both(951_782_400_000, "2000-02-29T00:00:00.000Z");
    check_both(-2_203_891_200_001, "1900-02-28T23:59:59.999Z");
    check_both(253_402_300_799_999, "9999-12-31T23:59:59.999Z");
    check_both(253_402_300_800_000, "+010000-01-01T00:00:00.000Z");
    check_both(-62_167_219_200_000, "0000-01-01T00:00:00.000Z");
    check_both(-62_167_219_200_001, "-000001-12-31T23:59:59.999Z");
    check_both(8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z");
    check_both(-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z");
}

#[test]
fn reads_other_forms() {
    check_read("2024-02-29", "2024-02-29T00:00:00.000Z");
    check_read("2024-02-29T12:34Z", "2024-02-29T12:34:00.000Z");
    check_read("2024-02-29T12:34:56Z", "2024-02-29T12:34:56.000Z");
    check_read("2024-02-29t12:34:56.7z", "2024-02-29T12:34:56.700Z");
    check_read("2024-02-29T12:34:56.789999999999Z", "2024-02-29T12:34:56.789Z");
    check_read("2024-02-29T12:34:56+01:30", "2024-02-29T11:04:56.000Z");
    check_read("2024-02-29T23:34:56-01:30", "2024-03-01T01:04:56.000Z");
    check_read("+002024-02-29", "2024-02-29T00:00:00.000Z");
    check_read("+000000-01-01T00:30+00:31", "-000001-12-31T23:59:00.000Z");
    check_read("+275760-09-13T01:00:00+01:00", "+275760-09-13T00:00:00.000Z");
}

#[test]
fn anything_else_is_a_400() {
    for text in [
        "",
        "x",
        "2024",
        "2024-02",
        "2024-2-9",
        "20240229",
        "2024-02-29 12:34:56Z",
        "2024-02-30",
        "2023-02-29",
        "1900-02-29",
        "2024-04-31",
        "2024-00-01",
        "2024-13-01",
        "2024-01-00",
        "2024-01-32",
        "2024-02-29T",
        "2024-02-29T12",
        "2024-02-29T12Z",
        "2024-02-29T12:34:56",
        "2024-02-29T12:34:56.Z",
        "2024-02-29T12:34:56,7Z",
        "2024-02-29T24:00:00Z",
        "2024-02-29T12:60:00Z",
        "2024-02-29T12:34:60Z",
        "2024-02-29T12:34:56+0100",
        "2024-02-29T12:34:56+01",
        "2024-02-29T12:34:56+24:00",
        "2024-02-29T12:34:56+01:60",
        "2024-02-29T12:34:56ZZ",
        " 2024-02-29",
        "2024-02-29 ",
        "-000000-01-01",
        "+02024-01-01",
        "-2024-01-01",
        "12024-01-01",
        "+275760-09-13T00:00:00.001Z",
        "-271821-04-19T23:59:59.999Z",
        "+999999-12-31",
        "-999999-01-01",
        "２０２４-02-29",
        "2024-02-é9",
    ] {
        check_unreadable(text);
    }
}

#[test]
fn a_long_text_is_shortened_in_the_error() {
    let error = deserialize_date::<Date>(&"é".repeat(100_000)).unwrap_err();
    assert_eq!(error.to_string().matches('é').count(), 64);
}

#[test]
fn rounds_submilliseconds_down() {
    let epoch = SystemTime::UNIX_EPOCH;
    let check = |date: SystemTime, expected: &str| {
        assert_eq!(serialize_date(&date).unwrap(), expected);
    };
    check(epoch + Duration::from_nanos(1_999_999), "1970-01-01T00:00:00.001Z");
    check(epoch - Duration::from_nanos(1), "1969-12-31T23:59:59.999Z");
    check(epoch - Duration::from_millis(1), "1969-12-31T23:59:59.999Z");
    check(epoch - Duration::from_nanos(1_000_001), "1969-12-31T23:59:59.998Z");
}

#[test]
fn dates_beyond_the_javascript_range_are_a_500() {
    let last = SystemTime::UNIX_EPOCH + Duration::from_millis(8_640_000_000_000_000);
    assert_eq!(serialize_date(&last).unwrap(), Date::MAX.to_string());
    let error = serialize_date(&(last + Duration::from_millis(1))).unwrap_err();
    assert_eq!(error.to_string(), "date is out of range");
    assert_eq!(ApiError::from(error).status(), 500);
    assert!(Date::from_millis(i64::MIN).is_err());
    assert!(Date::from_millis(i64::MAX).is_err());
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Event {
    #[serde(with = "stockade_serialization::date")]
    at: SystemTime,
    #[serde(default, with = "stockade_serialization::date::option")]
    until: Option<SystemTime>,
}

#[test]
fn fields_can_have_dates_before_1970() {
    let event = Event {
        at: SystemTime::UNIX_EPOCH - Duration::from_secs(1),
        until: Some(SystemTime::UNIX_EPOCH),
    };
    let value = json!({ "at": "1969-12-31T23:59:59.000Z", "until": "1970-01-01T00:00:00.000Z" });
    assert_eq!(serde_json::to_value(&event).unwrap(), value);
    assert_eq!(stockade_serialization::serialize_for_json(&event).unwrap(), value);
    assert_eq!(serde_json::from_value::<Event>(value).unwrap(), event);
    let without: Event = serde_json::from_value(json!({ "at": "1970-01-01" })).unwrap();
    assert_eq!(without.until, None);
}

#[test]
fn reports_a_field_that_is_not_a_date() {
    let error = serde_json::from_str::<Event>(r#"{"at":"soon"}"#).unwrap_err().to_string();
    assert!(error.starts_with(r#""soon" is not a readable date at line 1"#), "{error}");
    let error = serde_json::from_str::<Event>(r#"{"at":7}"#).unwrap_err().to_string();
    assert!(error.contains("expected a date in ISO 8601"), "{error}");
}
