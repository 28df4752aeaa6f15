//! Types of other crates, and types of the standard library with a special
//! format: the schema accepts exactly the values that serde reads.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stockade_validation::{HasSchema, ValidationOptions};

/// Asserts that a type's schema and reader accept exactly the values that serde
/// reads.
#[track_caller]
fn agree<T: HasSchema + DeserializeOwned + Debug>(read: &[Value], refused: &[Value]) {
    let (schema, options) = (T::schema().unwrap(), ValidationOptions::new());
    for value in read {
        let errors = schema.check(value, &options).unwrap();
        assert!(errors.is_empty(), "{value}: {errors:?}");
        let by_serde: T = serde_json::from_value(value.clone()).unwrap();
        let by_schema: T = schema.read_json(value.to_string().as_bytes(), &options).unwrap();
        let by_value: T = schema.read_value(value, &options).unwrap();
        assert_eq!(format!("{by_serde:?}"), format!("{by_schema:?}"));
        assert_eq!(format!("{by_serde:?}"), format!("{by_value:?}"));
    }
    for value in refused.iter().chain(&[json!(true), json!(null), json!({ "a": 1 })]) {
        assert!(!schema.check(value, &options).unwrap().is_empty(), "{value} is taken");
        let by_serde = serde_json::from_value::<T>(value.clone());
        assert!(by_serde.is_err(), "{value} is read as {by_serde:?}");
        assert!(schema.read_json::<T>(value.to_string().as_bytes(), &options).is_err());
    }
}

/// Asserts the same for text-only types, which are read neither from numbers
/// nor from lists of texts.
#[track_caller]
fn texts<T: HasSchema + DeserializeOwned + Debug>(read: &[&str], refused: &[&str]) {
    let read: Vec<Value> = read.iter().map(|text| json!(text)).collect();
    let mut refused: Vec<Value> = refused.iter().map(|text| json!(text)).collect();
    refused.extend([json!(""), json!("a"), json!(7), json!(["a"])]);
    agree::<T>(&read, &refused);
}

#[track_caller]
fn exports<T: HasSchema>(expected: &Value) {
    assert_eq!(T::schema().unwrap().to_json_schema(), *expected);
}

/// Asserts that the response schema accepts serde's output and describes
/// exactly the written form.
#[track_caller]
fn writes<T: HasSchema + serde::Serialize>(value: &T, expected: &Value) {
    let schema = T::reply_schema().unwrap();
    assert_eq!(schema.to_json_schema(), *expected);
    let written = serde_json::to_value(value).unwrap();
    let errors = schema.check(&written, &ValidationOptions::new()).unwrap();
    assert!(errors.is_empty(), "{written}: {errors:?}");
}

/// Returns a string schema with this format.
#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "secrecy",
    feature = "time",
    feature = "url",
    feature = "uuid"
))]
#[track_caller]
fn has_format<T: HasSchema>(format: &str) {
    exports::<T>(&json!({ "type": "string", "format": format }));
}

mod of_std {
    use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
    use std::num::{NonZero, Saturating, Wrapping};
    use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn numbers() {
        agree::<NonZero<u8>>(&[json!(1), json!(255)], &[json!(0), json!(256), json!("1")]);
        agree::<NonZero<i8>>(&[json!(-128), json!(1)], &[json!(0), json!(-129), json!(128)]);
        agree::<NonZero<i64>>(&[json!(i64::MIN), json!(-1)], &[json!(0), json!("1")]);
        agree::<NonZero<u64>>(&[json!(1)], &[json!(0), json!(-1)]);
        agree::<Wrapping<u8>>(&[json!(0), json!(255)], &[json!(-1), json!(256)]);
        exports::<NonZero<u8>>(
            &json!({ "type": "integer", "minimum": 1, "maximum": 255, "format": "uint8" }),
        );
        // `0.0` is the integer 0.
        let errors = NonZero::<i8>::schema().unwrap();
        let errors = errors.check(&json!(0.0), &ValidationOptions::new()).unwrap();
        assert_eq!(errors[0].message, "Number must not be 0");
        assert!(Saturating::<u8>::schema().is_ok());
    }

    #[test]
    fn times() {
        agree::<Duration>(
            &[json!({ "secs": 1, "nanos": 0 }), json!({ "secs": 1, "nanos": 1_500_000_000 })],
            &[
                json!({ "secs": 1 }),
                json!({ "secs": -1, "nanos": 0 }),
                json!({ "secs": 1, "nanos": 1_u64 << 32 }),
                json!({ "secs": 1, "nanos": 0, "micros": 0 }),
                json!("PT1S"),
                json!(1),
            ],
        );
        agree::<SystemTime>(
            &[json!({ "secs_since_epoch": 1, "nanos_since_epoch": 0 })],
            &[json!({ "secs": 1, "nanos": 0 }), json!("2024-02-29T12:30:00Z"), json!(1)],
        );
    }

    #[test]
    fn addresses_and_paths() {
        texts::<SocketAddr>(&["127.0.0.1:80", "[::1]:80"], &["127.0.0.1", "::1:80", "a:80"]);
        texts::<SocketAddrV4>(&["127.0.0.1:80"], &["127.0.0.1:65536", "[::1]:80"]);
        texts::<SocketAddrV6>(&["[::1]:80"], &["127.0.0.1:80"]);
        agree::<PathBuf>(&[json!(""), json!("a/b")], &[json!(1)]);
        agree::<Box<Path>>(&[json!("/")], &[json!(1)]);
    }

    #[test]
    fn ranges() {
        let both = [json!({ "start": 1, "end": 2 }), json!({ "end": 1, "start": 2 })];
        let wrong = [
            json!({ "start": 1 }),
            json!({ "start": 1, "end": 256 }),
            json!({ "start": 1, "end": 2, "step": 1 }),
        ];
        agree::<Range<u8>>(&both, &wrong);
        agree::<RangeInclusive<u8>>(&both, &wrong);
        agree::<RangeFrom<u8>>(&[json!({ "start": 1 })], &[json!({ "end": 1 })]);
        agree::<RangeTo<u8>>(&[json!({ "end": 1 })], &[json!({ "start": 1 })]);
        exports::<RangeFrom<bool>>(&json!({
            "type": "object",
            "properties": { "start": { "type": "boolean" } },
            "required": ["start"],
            "additionalProperties": false,
        }));
    }
}

#[cfg(feature = "uuid")]
#[test]
fn uuid_types() {
    use uuid::{NonNilUuid, Uuid};

    let forms = [
        "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
        "2eb8aa08aa9811eab4aa73b441d16380",
        "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
    ];
    let nil = "00000000-0000-0000-0000-000000000000";
    let wrong = [
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
        " 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "2eb8-aa08-aa98-11ea-b4aa-73b441d16380",
    ];
    texts::<Uuid>(&forms, &wrong);
    texts::<Uuid>(&[nil], &[]);
    texts::<NonNilUuid>(&forms, &[nil]);
    has_format::<Uuid>("uuid");
    exports::<Option<Uuid>>(&json!({ "type": ["string", "null"], "format": "uuid" }));

    let errors = Uuid::schema().unwrap();
    let errors = errors.check(&json!("a"), &ValidationOptions::new()).unwrap();
    assert_eq!((&*errors[0].message, &*errors[0].rule), ("Invalid UUID format", "format"));
}

#[cfg(feature = "url")]
#[test]
fn url_types() {
    texts::<url::Url>(
        &["https://example.com/a?b#c", "mailto:a@b.example", "https://exämple.com", "data:,a"],
        &["/a", "example.com", "https://", "https://a:port", "//example.com"],
    );
    has_format::<url::Url>("uri");
}

#[cfg(feature = "chrono")]
#[test]
fn chrono_types() {
    use chrono::{
        DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc, Weekday,
    };

    let no_dates = ["2023-02-29", "2024-13-01", "29.02.2024", "2024-02"];
    texts::<NaiveDate>(&["2024-02-29", "0000-01-01"], &no_dates);
    texts::<NaiveTime>(&["12:30:00", "12:30:00.5", "23:59:60", "12:30"], &["24:00:00", "12:30Z"]);
    texts::<NaiveDateTime>(
        &["2024-02-29T12:30:00", "2024-02-29T12:30:00.123"],
        &["2024-02-29", "2023-02-29T12:30:00", "2024-02-29T12:30:00Z"],
    );
    let moments = ["2024-02-29T12:30:00Z", "2024-02-29T12:30:00.5+01:00", "2024-02-29 12:30:00Z"];
    let no_moments = ["2024-02-29T12:30:00", "2024-02-29", "2023-02-29T12:30:00Z", "now"];
    texts::<DateTime<Utc>>(&moments, &no_moments);
    texts::<DateTime<FixedOffset>>(&moments, &no_moments);
    texts::<Month>(&["January", "jan"], &["Janu", "1"]);
    texts::<Weekday>(&["Mon", "monday"], &["Mo", "1"]);
    agree::<TimeDelta>(
        &[json!([1, 0]), json!([-9_223_372_036_854_775_i64, 999_999_999])],
        &[json!([1]), json!([1, 1_000_000_000]), json!([i64::MAX, 0]), json!("PT1S"), json!(1)],
    );
    agree::<TimeDelta>(
        &[json!([i64::MAX / 1000, 0]), json!([-i64::MAX / 1000 - 1, 999_999_999])],
        &[json!([i64::MAX / 1000 + 1, 0]), json!([-i64::MAX / 1000 - 2, 0])],
    );

    has_format::<NaiveDate>("date");
    has_format::<NaiveTime>("time-local");
    has_format::<NaiveDateTime>("date-time-local");
    has_format::<DateTime<Utc>>("date-time");
}

#[cfg(feature = "jiff")]
#[test]
fn jiff_types() {
    use jiff::civil::{Date, DateTime, ISOWeekDate, Time};
    use jiff::{SignedDuration, Span, Timestamp, Zoned};

    texts::<Timestamp>(
        &["2024-02-29T12:30:00Z", "2024-02-29 12:30:00.5+01:00", "2024-02-29T12:30:00+01[X/Y]"],
        &["2024-02-29T12:30:00", "2024-02-29", "2023-02-29T12:30:00Z"],
    );
    texts::<Zoned>(
        &["2024-02-29T12:30:00+01:00[+01:00]", "2024-02-29T12:30:00-05[-05]"],
        &["2024-02-29T12:30:00Z", "2024-02-29T12:30:00[X/Y]", "2024-02-29"],
    );
    texts::<Date>(&["2024-02-29", "20240229"], &["2023-02-29", "2024-02"]);
    texts::<Time>(&["12:30:00", "12:30:00.5", "12:30", "2024-02-29T12:30"], &["24:00:00"]);
    texts::<DateTime>(&["2024-02-29T12:30:00", "2024-02-29 12:30"], &["2023-02-29T12:30:00"]);
    texts::<ISOWeekDate>(&["2024-W09-4"], &["2024-W54-1", "2024-02-29"]);
    texts::<Span>(&["P1DT2H", "-PT1.5S", "1 day 2 hours", "1y2mo"], &["P", "1", "1 dog"]);
    texts::<SignedDuration>(&["PT1.5S", "2h 30m", "-PT1S"], &["P1Y", "1 month"]);

    has_format::<Timestamp>("date-time");
    has_format::<Date>("date");
    has_format::<Time>("time-local");
    has_format::<DateTime>("date-time-local");
    has_format::<Span>("duration");
    has_format::<SignedDuration>("duration");
}

#[cfg(feature = "time")]
#[test]
fn time_types() {
    use time::{
        Date, Month, OffsetDateTime, PlainDateTime, SignedDuration, Time, UtcDateTime, UtcOffset,
        Weekday,
    };

    texts::<Date>(&["2024-02-29"], &["2023-02-29", "2024-2-9", "20240229"]);
    texts::<Time>(&["12:30:00.0", "01:02:03.5"], &["24:00:00.0", "1:02:03.5"]);
    texts::<PlainDateTime>(&["2024-02-29 12:30:00.0"], &["2024-02-29T12:30:00.0", "2024-02-29"]);
    texts::<OffsetDateTime>(
        &["2024-02-29 12:30:00.0 +00:00:00", "2024-02-29 01:30:00.5 -01:30:00"],
        &["2024-02-29T12:30:00Z", "2024-02-29 12:30:00.0"],
    );
    texts::<UtcDateTime>(&["2024-02-29 12:30:00.0"], &["2024-02-29T12:30:00Z"]);
    texts::<UtcOffset>(&["+01:00:00", "-01:30:00"], &["+1", "Z"]);
    texts::<SignedDuration>(&["1.500000000", "-0.5"], &["1", "PT1S"]);
    agree::<Month>(
        &[json!("January"), json!(1), json!(12)],
        &[json!("Jan"), json!("january"), json!(0), json!(13), json!(-1)],
    );
    agree::<Weekday>(
        &[json!("Monday"), json!(1), json!(7)],
        &[json!("Mon"), json!("monday"), json!(0), json!(8), json!(-1)],
    );

    // The form for binary data, which serde also reads from JSON.
    let list = json!([2024, 60]);
    assert!(serde_json::from_value::<Date>(list.clone()).is_ok());
    let errors = Date::schema().unwrap().check(&list, &ValidationOptions::new()).unwrap();
    assert_eq!(errors[0].message, "Expected string, got array");

    has_format::<Date>("date");
    exports::<OffsetDateTime>(
        &json!({ "type": "string", "examples": ["2024-02-29 12:30:00.0 +00:00:00"] }),
    );
}

#[cfg(feature = "rust_decimal")]
#[test]
fn rust_decimal_types() {
    use rust_decimal::Decimal;

    agree::<Decimal>(
        &[
            json!("1.50"),
            json!("-0"),
            json!("79228162514264337593543950335"),
            json!(1),
            json!(-1.25),
            json!(u64::MAX),
            json!(1e28),
            json!(7.922_816_251_426_433e28),
        ],
        &[
            json!(""),
            json!("1,5"),
            json!("NaN"),
            json!("79228162514264337593543950336"),
            json!(7.922_816_251_426_434e28),
            json!(-1e29),
            json!([1]),
        ],
    );
    exports::<Decimal>(&json!({
        "type": ["string", "number"],
        "format": "decimal",
        "minimum": -79_228_162_514_264_328_797_450_928_128.0,
        "maximum": 79_228_162_514_264_328_797_450_928_128.0,
    }));
}

#[cfg(feature = "bigdecimal")]
#[test]
fn bigdecimal_types() {
    use bigdecimal::BigDecimal;

    agree::<BigDecimal>(
        &[json!("1.50"), json!("1e400"), json!(1), json!(-1.25), json!(1e300)],
        &[json!(""), json!("1,5"), json!("NaN"), json!([1])],
    );
    exports::<BigDecimal>(&json!({ "type": ["string", "number"], "format": "decimal" }));
}

#[cfg(feature = "indexmap")]
#[test]
fn indexmap_types() {
    use std::hash::RandomState;

    // The hasher has a default only with the feature `std` of indexmap.
    type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
    type IndexSet<T> = indexmap::IndexSet<T, RandomState>;

    let schema = IndexMap::<u8, bool>::schema().unwrap();
    let options = ValidationOptions::new();
    let map: IndexMap<u8, bool> =
        schema.read_json(br#"{ "2": true, "1": false }"#, &options).unwrap();
    assert_eq!(map.keys().collect::<Vec<_>>(), [&2, &1]);
    assert!(schema.read_json::<IndexMap<u8, bool>>(br#"{ "2": 1 }"#, &options).is_err());
    agree::<IndexSet<u8>>(&[json!([]), json!([2, 1])], &[json!([256]), json!("a")]);
    exports::<IndexMap<String, bool>>(
        &json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
    );
}

#[cfg(feature = "smallvec")]
#[test]
fn smallvec_types() {
    use smallvec::SmallVec;

    agree::<SmallVec<[u8; 2]>>(&[json!([]), json!([1, 2, 3])], &[json!([256]), json!("a")]);
    exports::<SmallVec<[bool; 2]>>(&json!({ "type": "array", "items": { "type": "boolean" } }));
}

#[cfg(feature = "bytes")]
#[test]
fn bytes_types() {
    use bytes::{Bytes, BytesMut};

    let read = [json!([]), json!([0, 255]), json!("ä")];
    let refused = [json!([256]), json!([-1]), json!(["a"]), json!(1)];
    agree::<Bytes>(&read, &refused);
    agree::<BytesMut>(&read, &refused);
}

#[cfg(feature = "secrecy")]
#[test]
fn secrecy_types() {
    use secrecy::{SecretBox, SecretString};

    agree::<SecretString>(&[json!(""), json!("a")], &[json!(1), json!([])]);
    agree::<SecretBox<u8>>(&[json!(1)], &[json!(256), json!("1")]);
    has_format::<SecretString>("password");
}

/// The texts of a query and of a path.
#[cfg(all(feature = "chrono", feature = "rust_decimal", feature = "uuid"))]
#[test]
fn texts_of_queries_and_paths() {
    use std::borrow::Cow;

    use chrono::{DateTime, Utc};
    use rust_decimal::Decimal;
    use stockade_validation::Rule;
    use stockade_validation::read_internals::{Field, PairsKind};
    use uuid::Uuid;

    #[derive(serde::Deserialize)]
    struct Search {
        id: Uuid,
        price: Decimal,
        since: DateTime<Utc>,
    }

    let read = |kind, id: &'static str, price: &'static str| {
        let named =
            [("id", Uuid::rule()), ("price", Decimal::rule()), ("since", <DateTime<Utc>>::rule())];
        let schema = Rule::object(named).build().unwrap();
        let pairs = [("id", id), ("price", price), ("since", "2024-02-29T12:30:00Z")];
        let pairs = pairs.map(|(name, text)| (Cow::Borrowed(name), Cow::Borrowed(text)));
        let mut fields = Field::group(pairs.into()).into_iter();
        let mut slot = None::<Search>;
        let options = ValidationOptions::new();
        let is_read = schema.read_pairs_into(&mut fields, kind, &options, &mut slot);
        is_read.then(|| {
            let Search { id, price, since } = slot.unwrap();
            format!("{id} {price} {since}")
        })
    };
    let id = "2eb8aa08-aa98-11ea-b4aa-73b441d16380";
    let expected = format!("{id} 1.50 2024-02-29 12:30:00 UTC");
    for kind in [PairsKind::Named, PairsKind::Ordered] {
        assert_eq!(read(kind, id, "1.50").as_ref(), Some(&expected));
        assert_eq!(read(kind, id, "1,50"), None);
        assert_eq!(read(kind, "7", "1.50"), None);
    }
}

mod of_replies {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_duration_allows_additional_keys() {
        let (secs, nanos) = (u64::reply_schema().unwrap(), u32::reply_schema().unwrap());
        let expected = json!({
            "type": "object",
            "properties": { "secs": secs.to_json_schema(), "nanos": nanos.to_json_schema() },
            "required": ["secs", "nanos"],
        });
        writes(&Duration::from_millis(1_500), &expected);
    }

    #[cfg(all(feature = "rust_decimal", feature = "bigdecimal"))]
    #[test]
    fn decimals_are_texts() {
        let expected = json!({ "type": "string", "format": "decimal" });
        writes(&rust_decimal::Decimal::new(15, 1), &expected);
        writes(&"1.5".parse::<bigdecimal::BigDecimal>().unwrap(), &expected);
    }

    #[cfg(feature = "bytes")]
    #[test]
    fn bytes_are_a_list() {
        let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" });
        writes(&bytes::Bytes::from("a"), &json!({ "type": "array", "items": byte }));
    }

    #[cfg(feature = "time")]
    #[test]
    fn months_and_days_are_names() {
        let expected = |name| json!({ "type": "string", "examples": [name] });
        writes(&time::Month::May, &expected("January"));
        writes(&time::Weekday::Friday, &expected("Monday"));
    }
}
