//! Checks that serde_json reads the same values from the same texts and rejects
//! the same texts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::read_unvalidated;

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    read_unvalidated(text)
}

/// Compares values as text, because minus zero equals zero.
#[track_caller]
fn check<T: DeserializeOwned + std::fmt::Debug>(text: &str) {
    let expected = serde_json::from_str::<T>(text).ok();
    assert_eq!(format!("{:?}", read::<T>(text)), format!("{expected:?}"), "{text:?}");
}

#[track_caller]
fn check_all(text: &str) {
    check::<Value>(text);
    check::<String>(text);
    check::<f64>(text);
    check::<u8>(text);
    check::<i64>(text);
    check::<Option<bool>>(text);
    check::<Vec<f64>>(text);
    check::<Vec<String>>(text);
    check::<(i32, Option<String>)>(text);
    check::<BTreeMap<String, Value>>(text);
    check::<BTreeMap<i64, Vec<()>>>(text);
    check::<Box<[char]>>(text);
}

#[test]
fn numbers_are_the_same() {
    for number in [
        "0",
        "-0",
        "00",
        "-",
        "+1",
        "1.",
        ".5",
        "1.5",
        "-1.5",
        "0.1",
        "99.5",
        "1e",
        "1e5",
        "1E+5",
        "1e-5",
        "1.25e2",
        "1e400",
        "-1e400",
        "1e-400",
        "0e0",
        "0.0",
        "-0.0",
        "01",
        "-01",
        "1-",
        "1-2",
        "1.2.3",
        "0x10",
        "NaN",
        "Infinity",
        "255",
        "256",
        "-129",
        "9007199254740992.5",
        "9007199254740993",
        "900719925474099.1",
        "123456789012345678",
        "1234567890123456789",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "100000000000000000000.5",
        "0.1234567890123456",
        "0.12345678901234567",
        "0.00000000000000001",
        "0.30000000000000004",
        "3.0000000000000000",
        "123456789.123456789",
        "184467440737095516.16",
    ] {
        check_all(number);
        check_all(&format!("[{number}]"));
        check_all(&format!("[{number},{number} ]"));
        check_all(&format!("{{\"{number}\":[]}}"));
    }
}

#[test]
fn strings_are_the_same() {
    for string in [
        "",
        "a",
        "é",
        "\\n",
        "\\\"",
        "\\/",
        "\\b\\f\\r\\t\\\\",
        "\\u0041",
        "\\u00e9",
        "\\u20AC",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\u0041",
        "\\ud83dx",
        "\\ude00\\ud83d",
        "\\u12",
        "\\u12g4",
        "\\u+123",
        "\\x",
        "\\",
        "\n",
        "\u{1f}",
        "\u{7f}",
        "\u{2028}",
        "\\u0000",
        "\\U0041",
        "\\N",
    ] {
        // At each offset in a word and in a block, near the end and far from
        // it.
        for before in [0, 1, 7, 8, 9, 15, 16, 23, 24, 25, 31, 32, 33, 64, 100] {
            for after in [0, 1, 8, 40] {
                let text = format!("\"{}{string}{}\"", "é".repeat(before), "x".repeat(after));
                check_all(&text);
                check_all(&format!("[{text}, {text}]"));
                check_all(&format!("{{{text}: 1}}"));
                check_all(&text[..text.len() - 1]);
            }
        }
    }
}

#[test]
fn the_depth_limit_equals_the_serde_json_limit() {
    for levels in [1, 126, 127, 128, 129, 5_000] {
        check::<Value>(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
        check::<Value>(&format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels)));
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\"",
    "\"1\"",
    "\"é\\n\"",
    " ",
    "\t",
    "\r\n",
    "1",
    "-2.5",
    "true",
    "false",
    "null",
    "tru",
    "\\",
    "\u{b}",
    "é",
    "\"a\":1",
    "[1,2]",
    "{\"a\":null}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order_agree(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..9)) {
        check_all(&pieces.concat());
    }

    #[test]
    fn serialized_values_agree(value in value(), at: usize) {
        let text = value.to_string();
        check_all(&text);
        check_all(&serde_json::to_string_pretty(&value).unwrap());
        // Removes one byte.
        let mut bytes = text.into_bytes();
        bytes.remove(at % bytes.len());
        if let Ok(text) = String::from_utf8(bytes) {
            check_all(&text);
        }
    }

    #[test]
    fn decimals(whole in 0_u64..u64::MAX, fraction in "[0-9]{1,20}", cut in 0_u32..64) {
        let text = format!("{}.{fraction}", whole >> cut);
        let read = read::<f64>(&text).map(f64::to_bits);
        prop_assert_eq!(read, serde_json::from_str(&text).ok().map(f64::to_bits), "{}", text);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
