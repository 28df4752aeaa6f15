//! Tests that compare `to_json` with serde_json.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::{Duration, SystemTime};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::Serialize;
use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _, SerializeStruct, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use stockade_json::{to_json, to_json_string};

/// Checks that both writers return the same text or the same error.
#[track_caller]
fn check<T: Serialize + ?Sized>(value: &T) {
    let comparable = |result: Result<Vec<u8>, serde_json::Error>| {
        let json = result.map(|json| String::from_utf8(json).unwrap());
        json.map_err(|it| (it.to_string(), it.classify(), it.line(), it.column()))
    };
    assert_eq!(comparable(to_json(value)), comparable(serde_json::to_vec(value)));
}

#[track_caller]
fn check_text<T: Serialize + ?Sized>(value: &T, expected: &str) {
    check(value);
    assert_eq!(String::from_utf8(to_json(value).unwrap()).unwrap(), expected);
}

/// Creates a value that calls its serializer `S` with this expression.
macro_rules! by {
    (|$serializer:ident| $made:expr) => {{
        struct Made;
        impl Serialize for Made {
            fn serialize<S: Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                $made
            }
        }
        Made
    }};
}

#[derive(Serialize)]
struct Unit;

#[derive(Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
struct Newtype<T>(T);

#[derive(Serialize)]
struct Pair(u8, &'static str);

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Named<T> {
    #[serde(rename = "a \"name\"\n")]
    first: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<T>,
    a_name_that_is_longer_than_a_whole_block_of_bytes: u8,
}

impl<T> Named<T> {
    fn of(first: T) -> Self {
        Self { first, second: None, a_name_that_is_longer_than_a_whole_block_of_bytes: 2 }
    }
}

#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd, Serialize)]
enum Kind<T> {
    Unit,
    #[serde(rename = "new\\type")]
    Newtype(T),
    Tuple(T, T),
    EmptyTuple(),
    Struct {
        one: T,
        other: T,
    },
    EmptyStruct {},
}

#[derive(Serialize)]
#[serde(tag = "kind", content = "of")]
enum Tagged {
    One(u8),
}

#[derive(Serialize)]
struct Flat {
    before: u8,
    #[serde(flatten)]
    kinds: BTreeMap<String, Kind<u8>>,
    #[serde(flatten)]
    tagged: Tagged,
}

#[test]
fn numbers_are_as_in_serde_json() {
    check(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    check(&(i8::MAX, i16::MAX, i32::MAX, i64::MAX, i128::MAX));
    check(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    for power in 0..39_u32 {
        let power = 10_i128.pow(power);
        check(&[power - 1, power, 1 - power, -power]);
    }
    check(&[0.0, -0.0, 0.1, 1.0, 1e15, 1e16, 1e17, 1e-5, 1e-7, 123_456.789, f64::MIN, f64::MAX]);
    check(&[f64::MIN_POSITIVE, 5e-324, f64::EPSILON, 9_007_199_254_740_993.0, 1.5e300]);
    check(&[0.0, -0.0, 0.1, 1.0, 1e15, 1e16, 1e17, 1e-5, 16_777_216.0, f32::MIN, f32::MAX]);
}

#[test]
fn floats_without_a_number_are_errors() {
    #[track_caller]
    fn check_refused<T: Serialize>(value: T) {
        let expected =
            "a float is NaN or infinite, which JSON cannot represent: use `None` to write null";
        assert_eq!(to_json(&value).unwrap_err().to_string(), expected);
        assert_eq!(to_json_string(&value).unwrap_err().to_string(), expected);
        to_json(&Named::of(Some(value))).unwrap_err();
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check_refused(value);
    }
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        check_refused(value);
    }
    check_text(&None::<f64>, "null");
}

#[test]
fn string_and_bytes_are_equal() {
    let value = json!({ "a": ["é\n𝄞", 1.5, null] });
    assert_eq!(to_json_string(&value).unwrap().into_bytes(), to_json(&value).unwrap());
}

#[test]
fn scalars_are_as_in_serde_json() {
    check_text(&(true, false, (), Unit, None::<u8>, Some(1)), "[true,false,null,null,null,1]");
    check_text(&('a', '"', '\n', 'é', '𝄞', "text", ""), r#"["a","\"","\n","é","𝄞","text",""]"#);
    check_text(&by!(|it| it.serialize_bytes(&[0, 9, 10, 255])), "[0,9,10,255]");
    check_text(&by!(|it| it.serialize_bytes(&[])), "[]");
    check_text(&by!(|it| it.collect_str(&format_args!("a{}\n{:?}", 1, "b"))), r#""a1\n\"b\"""#);
    check_text(
        &by!(|it| if it.is_human_readable() { it.serialize_u8(1) } else { it.serialize_unit() }),
        "1",
    );
}

#[test]
fn arrays_and_objects_are_as_in_serde_json() {
    check(&Vec::<u8>::new());
    check(&(vec![vec![], vec![1], vec![1, 2]], [[0; 0]; 2], Pair(1, "\u{7}"), Newtype(Newtype(7))));
    check(&Empty {});
    check(&Named::of(1));
    check(&Named { second: Some(Named::of("b")), ..Named::of(Named::of("a")) });
    check_text(&HashMap::<u8, u8>::new(), "{}");
    // Unknown length, with and without items.
    check_text(&by!(|it| it.serialize_seq(None)?.end()), "[]");
    check_text(&by!(|it| it.serialize_map(None)?.end()), "{}");
    check_text(&by!(|it| it.collect_seq((0..9).filter(|it| it % 4 == 3))), "[3,7]");
    check_text(
        &by!(|it| it.collect_map((0..9).filter(|it| it % 4 == 3).map(|it| (it, it)))),
        r#"{"3":3,"7":7}"#,
    );
}

#[test]
fn variants_are_as_in_serde_json() {
    let one = Kind::Struct { one: 1, other: 2 };
    check(&[Kind::Unit, Kind::Newtype(1), Kind::Tuple(1, 2), one]);
    check(&[Kind::EmptyTuple::<u8>(), Kind::EmptyStruct {}]);
    check(&Kind::Newtype(Kind::Tuple(Kind::Unit, Kind::Newtype(1))));
    check(&Tagged::One(1));
    let kinds = BTreeMap::from([("a".to_owned(), one), ("b".to_owned(), Kind::Unit)]);
    check(&Flat { before: 1, kinds, tagged: Tagged::One(2) });
    check(&(Ok::<u8, u8>(1), Err::<u8, u8>(2), SystemTime::UNIX_EPOCH, Duration::MAX));
}

/// A map with one key of any type.
struct Keyed<K>(K);

impl<K: Serialize> Serialize for Keyed<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.0, &1)?;
        map.end()
    }
}

#[test]
fn keys_are_as_in_serde_json() {
    check(&(Keyed("a\"b"), Keyed(""), Keyed('c'), Keyed('"'), Keyed(true), Keyed(false)));
    check(&(Keyed(i8::MIN), Keyed(i16::MIN), Keyed(i32::MIN), Keyed(i64::MIN), Keyed(i128::MIN)));
    check(&(Keyed(u8::MAX), Keyed(u16::MAX), Keyed(u32::MAX), Keyed(u64::MAX), Keyed(u128::MAX)));
    check(&(Keyed(0.1_f32), Keyed(1e21_f64), Keyed(-0.0), Keyed(Kind::<u8>::Unit)));
    check(&(Keyed(Some("a")), Keyed(Newtype(7)), Keyed(Newtype(Some('c')))));
    check(&Keyed(by!(|it| it.collect_str(&format_args!("{}\n", 1)))));
    check(&BTreeMap::from([(3, "c"), (1, "a"), (2, "b")]));
}

#[test]
fn non_string_keys_give_the_same_errors() {
    check(&Keyed(()));
    check(&Keyed(Unit));
    check(&Keyed(None::<u8>));
    check(&Keyed(vec![1]));
    check(&Keyed((1, 2)));
    check(&Keyed(Pair(1, "a")));
    check(&Keyed(Empty {}));
    check(&Keyed(BTreeMap::from([(1, 2)])));
    check(&Keyed(by!(|it| it.serialize_bytes(b"a"))));
    check(&Keyed(Kind::Newtype(1)));
    check(&Keyed(Kind::Tuple(1, 2)));
    check(&Keyed(Kind::Struct { one: 1, other: 2 }));
    check(&[Keyed(f64::NAN), Keyed(f64::INFINITY)]);
    check(&[Keyed(f32::NAN), Keyed(f32::NEG_INFINITY)]);
    assert!(to_json(&Keyed(())).unwrap_err().is_syntax());
}

#[test]
fn an_error_of_a_type_is_the_same_error() {
    check(&(1, by!(|_it| Err(S::Error::custom("it is broken")))));
    check(&Keyed(by!(|_it| Err(S::Error::custom("it is broken")))));
    check(&(SystemTime::UNIX_EPOCH - Duration::from_secs(1)));
    assert!(to_json(&by!(|_it| Err(S::Error::custom("no")))).unwrap_err().is_data());
}

#[test]
fn writes_raw_json_unchanged() {
    let raw = RawValue::from_string(r#"{ "b" : [1, 1e400] }"#.to_owned()).unwrap();
    check(&raw);
    check(&BTreeMap::from([("a", [&raw, &raw])]));
    check(&Named::of(&raw));
}

const RAW_VALUE: &str = "$serde_json::private::RawValue";
const NUMBER: &str = "$serde_json::private::Number";

/// A struct that looks like an internal struct of serde_json.
struct Like<T>(&'static str, &'static str, T);

impl<T: Serialize> Serialize for Like<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct(self.0, 1)?;
        fields.serialize_field(self.1, &self.2)?;
        fields.end()
    }
}

#[test]
fn malformed_raw_json_gives_the_same_error() {
    #[track_caller]
    fn check_raw<T: Serialize>(value: T) {
        check(&Like(RAW_VALUE, RAW_VALUE, value));
    }
    check(&Like(RAW_VALUE, "other", "1"));
    check_raw("1");
    check_raw(by!(|it| it.collect_str(&"1")));
    check_raw(1);
    check_raw('1');
    check_raw(true);
    check_raw(1.5);
    check_raw(());
    check_raw(Unit);
    check_raw(Some("1"));
    check_raw(None::<u8>);
    check_raw(Newtype("1"));
    check_raw(["1"]);
    check_raw(vec!["1"]);
    check_raw(Pair(1, "1"));
    check_raw(Keyed("1"));
    check_raw(Empty {});
    check_raw(by!(|it| it.serialize_bytes(b"1")));
    check_raw(Kind::<u8>::Unit);
    check_raw(Kind::Newtype(1));
    check_raw(Kind::Tuple(1, 1));
    check_raw(Kind::Struct { one: 1, other: 1 });
}

/// Imitates how serde_json serializes a `Number` with its feature
/// `arbitrary_precision`, which is disabled here.
#[test]
fn writes_arbitrary_precision_numbers_unchanged() {
    let digits = "12345678901234567890.12345678901234567890e-400";
    let json = to_json(&[Like(NUMBER, NUMBER, digits)]).unwrap();
    assert_eq!(json, format!("[{digits}]").as_bytes());
    assert!(to_json(&Like(NUMBER, NUMBER, 1)).is_err());
}

#[test]
fn other_structs_with_reserved_names_are_objects() {
    check(&Like("$serde_json::private::Other", NUMBER, 1));
    check(&Like("Number", RAW_VALUE, "1"));
}

#[test]
fn wrong_lengths_do_not_break_the_json() {
    let seq = by!(|it| {
        let mut seq = it.serialize_seq(Some(0))?;
        seq.serialize_element(&1)?;
        seq.end()
    });
    assert_eq!(to_json(&seq).unwrap(), b"[1]");
    struct Fails;
    impl fmt::Display for Fails {
        fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }
    assert!(to_json(&by!(|it| it.collect_str(&Fails))).is_err());
}

#[test]
fn nesting_is_limited_only_by_the_value() {
    let mut value = json!(1);
    for level in 0..1_000 {
        value = if level % 2 == 0 { json!([value]) } else { json!({ "a": value }) };
    }
    check(&value);
}

#[test]
fn results_of_all_sizes_are_complete() {
    for size in [0, 1_000, 1_022, 1_023, 16_382, 16_383, 16_384, 65_533, 65_535, 200_000] {
        check(&"a".repeat(size));
        check(&"\n".repeat(size));
        check(&vec![size; size / 4]);
    }
    check(&"a");
}

#[derive(Serialize)]
struct User<'a> {
    id: u64,
    name: &'a str,
    score: f64,
    tags: [&'a str; 3],
    site: Option<Cow<'a, str>>,
    by_number: BTreeMap<u8, Kind<bool>>,
}

#[test]
fn a_struct_costs_one_allocation() {
    let user = User {
        id: 7,
        name: "Ada \"the first\" Lovelace",
        score: 98.6,
        tags: ["mathematics", "engines", "poetry"],
        site: Some("https://example.com/ada".into()),
        by_number: BTreeMap::from([(1, Kind::Unit), (2, Kind::Newtype(true))]),
    };
    check(&user);
    let mut json = Vec::new();
    let info = allocation_counter::measure(|| json = to_json(&user).unwrap());
    assert_eq!(info.count_total, 1);
    assert_eq!(info.bytes_total, u64::try_from(json.len()).unwrap());
    assert_eq!(json.capacity(), json.len());
    // An error does not lose the thread's buffer, so the count stays the same.
    to_json(&(&user, Keyed(()))).unwrap_err();
    let info = allocation_counter::measure(|| json = to_json(&user).unwrap());
    assert_eq!(info.count_total, 1);
}

/// Generates any JSON; special characters are more frequent than in random
/// text.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(text(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,80}",
        "[a-z]{0,40}[\\x00-\\x1f\"\\\\a-z\u{e9}\u{2028}]{0,8}[a-z]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_values_are_as_in_serde_json(value in value()) {
        prop_assert_eq!(to_json(&value).unwrap(), serde_json::to_vec(&value).unwrap());
    }

    #[test]
    fn generated_texts_are_as_in_serde_json(texts in vec(text(), 0..8)) {
        prop_assert_eq!(to_json(&texts).unwrap(), serde_json::to_vec(&texts).unwrap());
    }

    #[test]
    fn generated_numbers_are_as_in_serde_json(
        numbers in vec(any::<(f64, f32, i64, u32, u128, i128)>(), 0..4),
        keys in btree_map(any::<i16>(), any::<char>(), 0..4),
    ) {
        let data = (numbers, keys);
        prop_assert_eq!(to_json(&data).unwrap(), serde_json::to_vec(&data).unwrap());
    }

    #[test]
    fn any_bits_are_a_float_as_in_serde_json(double: u64, single: u32) {
        let data = (f64::from_bits(double), f32::from_bits(single));
        let is_finite = data.0.is_finite() && data.1.is_finite();
        let expected = is_finite.then(|| serde_json::to_vec(&data).unwrap());
        prop_assert_eq!(to_json(&data).ok(), expected);
    }
}
