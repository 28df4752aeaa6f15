//! Round trips with generated values, and a comparison of dates with jiff.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use proptest::collection::{btree_map, btree_set, hash_map, hash_set, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_serialization::{
    Date, deserialize_date, deserialize_from_json, deserialize_map, deserialize_set,
    serialize_date, serialize_for_json, serialize_map, serialize_set,
};

fn date() -> impl Strategy<Value = Date> {
    let all = Date::MIN.as_millis()..=Date::MAX.as_millis();
    let usual = 0..4_102_444_800_000_i64;
    prop_oneof![all, usual].prop_map(|milliseconds| Date::from_millis(milliseconds).unwrap())
}

/// Generates whole milliseconds since 1970, because serde does not write
/// earlier times.
fn system_time() -> impl Strategy<Value = SystemTime> {
    (0..=Date::MAX.as_millis().unsigned_abs())
        .prop_map(|milliseconds| SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds))
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond())
        .prop_map(|nanoseconds| Timestamp::from_nanosecond(nanoseconds).unwrap())
}

#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
enum Key {
    Unit,
    Number(i64),
    Pair(u8, String),
    Named { at: SystemTime, flag: Option<bool> },
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        Just(Key::Unit),
        any::<i64>().prop_map(Key::Number),
        (any::<u8>(), ".{0,4}").prop_map(|(number, text)| Key::Pair(number, text)),
        (system_time(), any::<Option<bool>>()).prop_map(|(at, flag)| Key::Named { at, flag }),
    ]
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Everything {
    number: f64,
    small: f32,
    large: i128,
    larger: u128,
    letter: char,
    text: String,
    at: SystemTime,
    seen: BTreeMap<Key, HashSet<SystemTime>>,
    by_number: HashMap<i128, Option<Box<Self>>>,
    pairs: BTreeMap<(u8, char), Vec<BTreeMap<bool, Key>>>,
}

fn everything() -> impl Strategy<Value = Everything> {
    type Kept = Option<Box<Everything>>;
    let one = |inner: BoxedStrategy<Kept>| {
        let scalars = (
            -1e9..1e9_f64,
            -1e9..1e9_f32,
            any::<i128>(),
            any::<u128>(),
            any::<char>(),
            ".{0,6}",
            system_time(),
        );
        let maps = (
            btree_map(key(), hash_set(system_time(), 0..3), 0..3),
            hash_map(any::<i128>(), inner, 0..2),
            btree_map(any::<(u8, char)>(), vec(btree_map(any::<bool>(), key(), 0..2), 0..2), 0..3),
        );
        (scalars, maps).prop_map(|(scalars, (seen, by_number, pairs))| {
            let (number, small, large, larger, letter, text, at) = scalars;
            Everything { number, small, large, larger, letter, text, at, seen, by_number, pairs }
        })
    };
    let kept = Just(None)
        .boxed()
        .prop_recursive(3, 8, 2, move |inner| one(inner.boxed()).prop_map(|it| Some(Box::new(it))));
    one(kept.boxed())
}

/// Generates any JSON value.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300_f64).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".{0,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_date_is_read_back(date in date()) {
        let text = serialize_date(&date).unwrap();
        prop_assert_eq!(deserialize_date::<Date>(&text).unwrap(), date);
        let moment: SystemTime = deserialize_date(&text).unwrap();
        prop_assert_eq!(serialize_date(&moment).unwrap(), text);
    }

    #[test]
    fn jiff_writes_the_same_text(timestamp in timestamp()) {
        let cut = timestamp.as_nanosecond().div_euclid(1_000_000);
        let date = Date::from_millis(i64::try_from(cut).unwrap()).unwrap();
        let theirs = Timestamp::from_nanosecond(cut * 1_000_000).unwrap();
        prop_assert_eq!(date.to_string(), format!("{theirs:.3}"));
    }

    #[test]
    fn reads_dates_written_by_jiff(timestamp in timestamp(), minutes in -1_439..1_440_i32) {
        let offset = jiff::tz::Offset::from_seconds(minutes * 60).unwrap();
        let text = timestamp.display_with_offset(offset).to_string();
        let cut = timestamp.as_nanosecond().div_euclid(1_000_000);
        let read: Date = deserialize_date(&text).unwrap();
        prop_assert_eq!(i128::from(read.as_millis()), cut, "{}", text);
    }

    /// Both accept the same texts, and read them as the same moment.
    #[test]
    fn jiff_reads_the_same_moment(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][01][0-9]:[0-5][0-9])") {
        let theirs = text.parse::<Timestamp>().ok();
        let theirs = theirs.map(|it| it.as_nanosecond().div_euclid(1_000_000));
        let ours = deserialize_date::<Date>(&text).ok().map(|it| i128::from(it.as_millis()));
        prop_assert_eq!(ours, theirs, "{}", text);
    }

    #[test]
    fn no_text_panics(text in "[-+0-9TtZz:. é]{0,40}", other in ".{0,40}") {
        for text in [text, other] {
            if let Ok(date) = deserialize_date::<Date>(&text) {
                prop_assert_eq!(deserialize_date::<Date>(&date.to_string()).unwrap(), date);
            }
        }
    }

    #[test]
    fn a_map_is_read_back(map in btree_map(key(), system_time(), 0..8)) {
        let value = serialize_map(&map).unwrap();
        prop_assert_eq!(&serialize_for_json(&map).unwrap(), &value);
        let text = value.to_string();
        let back: BTreeMap<Key, SystemTime> =
            deserialize_map(serde_json::from_str(&text).unwrap()).unwrap();
        prop_assert_eq!(back, map);
    }

    #[test]
    fn a_set_is_read_back(set in btree_set(key(), 0..8)) {
        let value = serialize_set(&set).unwrap();
        prop_assert_eq!(&serialize_for_json(&set).unwrap(), &value);
        prop_assert_eq!(deserialize_set::<BTreeSet<Key>>(value).unwrap(), set);
    }

    #[test]
    fn data_of_all_kinds_is_read_back(data in everything()) {
        let value = serialize_for_json(&data).unwrap();
        prop_assert_eq!(deserialize_from_json::<Everything>(value).unwrap(), data);
    }

    #[test]
    fn json_passes_through(value in json_value()) {
        prop_assert_eq!(&serialize_for_json(&value).unwrap(), &value);
        prop_assert_eq!(&deserialize_from_json::<Value>(value.clone()).unwrap(), &value);
    }

    /// 32-bit floats and rejected values differ and are not generated.
    #[test]
    fn common_data_is_as_in_serde_json(
        data in vec((any::<(i32, String, Option<bool>)>(), hash_map(any::<u16>(), -1e9..1e9_f64, 0..3)), 0..4)
    ) {
        prop_assert_eq!(serialize_for_json(&data).unwrap(), serde_json::to_value(&data).unwrap());
    }
}
