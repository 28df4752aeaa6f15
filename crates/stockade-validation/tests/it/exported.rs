//! Checks that an exported schema matches validation: the crate `jsonschema`
//! accepts the same values with it that the type can be read from.

use std::fmt::Debug;
use std::net::IpAddr;
use std::num::NonZero;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stockade_validation::{HasSchema, Rule, Schema, ValidationOptions};

/// Returns a validator for an exported schema, which also checks formats.
fn validate(document: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(document).unwrap()
}

/// Asserts that a type can be read from a text if and only if its export accepts
/// the text.
#[track_caller]
fn agrees<T: HasSchema + DeserializeOwned + Debug>(texts: &[&str]) {
    let (schema, options) = (T::schema().unwrap(), ValidationOptions::new());
    let document = schema.to_json_schema();
    let validator = validate(&document);
    for text in texts {
        let data: Value = serde_json::from_str(text).unwrap();
        let read = schema.read_json::<T>(text.as_bytes(), &options);
        assert_eq!(read.is_ok(), validator.is_valid(&data), "{text} for {document}: {read:?}");
    }
}

/// Whole numbers near every bound, and other numbers.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "1.0",
    "1.5",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "32767",
    "32768",
    "-32768",
    "-32769",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854777856",
    "18446744073709551615",
    "18446744073709551616",
    "1e30",
    "-1e30",
    "1e300",
    "\"1\"",
    "null",
];

#[test]
fn numbers_have_exact_bounds() {
    agrees::<i8>(NUMBERS);
    agrees::<i16>(NUMBERS);
    agrees::<i32>(NUMBERS);
    agrees::<i64>(NUMBERS);
    agrees::<isize>(NUMBERS);
    agrees::<u8>(NUMBERS);
    agrees::<u16>(NUMBERS);
    agrees::<u32>(NUMBERS);
    agrees::<u64>(NUMBERS);
    agrees::<usize>(NUMBERS);
    agrees::<f32>(NUMBERS);
    agrees::<f64>(NUMBERS);
    agrees::<NonZero<i8>>(NUMBERS);
    agrees::<NonZero<i64>>(NUMBERS);
    agrees::<NonZero<u64>>(NUMBERS);
    agrees::<Option<NonZero<i32>>>(NUMBERS);
    agrees::<Vec<u64>>(&["[]", "[18446744073709551615]", "[18446744073709551616]"]);
    agrees::<i128>(NUMBERS);
    agrees::<u128>(NUMBERS);
    assert_eq!(
        u64::schema().unwrap().to_json_schema(),
        json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX, "format": "uint64" })
    );
    // A keyword may be stricter than the type, but never more permissive.
    let narrow = u64::rule().minimum(5).maximum(1e30).build().unwrap().to_json_schema();
    assert_eq!((&narrow["minimum"], &narrow["maximum"]), (&json!(5), &json!(u64::MAX)));
}

/// Each library writes the shortest text of a number at its own precision.
#[test]
fn texts_of_numbers_of_32_bits_are_within_their_bounds() {
    let schema = f32::schema().unwrap();
    let written = f32::reply_schema().unwrap().to_json_schema();
    let validator = validate(&written);
    for value in [f32::MAX, f32::MAX.next_down(), 1e38, f32::MIN_POSITIVE, 0.0] {
        for value in [value, -value] {
            let texts = [serde_json::to_string(&value).unwrap(), f64::from(value).to_string()];
            for text in texts {
                let data: Value = serde_json::from_str(&text).unwrap();
                assert!(validator.is_valid(&data), "{text} for {written}");
                let read = schema.read_json::<f32>(text.as_bytes(), &ValidationOptions::new());
                assert_eq!(read.ok(), Some(value), "{text}");
            }
        }
    }
    agrees::<f32>(&["3.4028235e38", "-3.4028235e38", "3.4028236e38", "-3.4028236e38"]);
}

#[test]
fn texts_have_their_formats() {
    agrees::<char>(&["\"a\"", "\"ü\"", "\"😀\"", "\"\"", "\"ab\"", "\"e\u{301}\""]);
    agrees::<IpAddr>(&["\"127.0.0.1\"", "\"::1\"", "\"localhost\"", "1"]);
    let date = Rule::date().build().unwrap();
    let validator = validate(&date.to_json_schema());
    for text in ["2024-02-29", "2024-02-29T12:30:00Z", "2024-02-30", "12:30:00Z", ""] {
        let is_valid = date.check(&json!(text), &ValidationOptions::new()).unwrap().is_empty();
        assert_eq!(validator.is_valid(&json!(text)), is_valid, "{text}");
    }
}

#[test]
fn white_space_that_is_trimmed_does_not_count() {
    for rule in [
        Rule::string().trim().min_length(1),
        Rule::string().trim().min_length(3),
        Rule::string().trim().min_length(2).pattern("b"),
        Rule::string().trim().min(2),
        Rule::object([("a", Rule::string().trim().required())]),
        Rule::object([("a", Rule::string().trim().required().nullable())]),
    ] {
        let schema = rule.build().unwrap();
        let document = schema.to_json_schema();
        let validator = validate(&document);
        for text in ["", " ", "   ", "a", " a ", "ab", "a b", " ab ", "  b", "\tabc\n", "a  "] {
            for data in [json!(text), json!({ "a": text })] {
                let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
                assert_eq!(validator.is_valid(&data), errors.is_empty(), "{data} for {document}");
            }
        }
    }
}

#[test]
fn patterns_are_translated_to_ecma_262() {
    let pattern = |pattern| Rule::string().pattern(pattern).build().unwrap().to_json_schema();
    assert_eq!(pattern(r"\A[a-z]+\z"), json!({ "type": "string", "pattern": "^[a-z]+$" }));
    let expected = json!({ "type": "string", "pattern": "[Aa][Bb][0-9]?" });
    assert_eq!(pattern("(?i)ab[0-9]?"), expected);
}

/// Generates rules of every kind, from types or written by hand.
fn rule() -> impl Strategy<Value = Rule> {
    let leaf = prop_oneof![
        Just(u8::rule()),
        Just(i64::rule()),
        Just(u64::rule()),
        Just(f32::rule()),
        Just(char::rule()),
        Just(bool::rule()),
        Just(NonZero::<i8>::rule()),
        Just(IpAddr::rule()),
        (0..3_usize, 0..3_usize).prop_map(|(min, more)| {
            Rule::string().trim().min_length(min).max_length(min + more)
        }),
        (-3..3_i64, 0..5_i64).prop_map(|(low, more)| Rule::integer().min(low).max(low + more)),
        "[a-c]{1,2}".prop_map(|text| Rule::string().pattern(&format!(r"\A(?:{text}|b+)\z"))),
        Just(Rule::string().values(["a", "b"])),
        Just(Rule::date()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|rule| Rule::array(rule).max_items(2)),
            inner.clone().prop_map(Rule::map),
            inner.clone().prop_map(Rule::nullable),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Rule::tuple([a, b])),
            (inner.clone(), inner.clone(), any::<bool>(), any::<bool>()).prop_map(
                |(a, b, closed, required)| {
                    let rule = Rule::object([("a", if required { a.required() } else { a })]);
                    let rule = rule.property("b", b).required_fields(["b"]);
                    if closed { rule.additional_properties(false) } else { rule }
                }
            ),
            (inner.clone(), inner).prop_map(|(a, b)| {
                Rule::variants([("a", Some(a)), ("b", Some(b)), ("c", None)])
            }),
        ]
    })
}

/// Generates values close to the valid ones.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-4..6_i64).prop_map(Value::from),
        prop::sample::select(vec![json!(0.5), json!(1.0), json!(255), json!(256), json!(1e300)]),
        "[abc]{0,4}".prop_map(Value::from),
        prop::sample::select(vec!["::1", "2024-02-29", "2024-02-29T12:30:00Z", "ü"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Checks a schema of a type that accepts any value, so only rules decide.
fn check(rule: Rule, data: &[Value]) -> Result<usize, TestCaseError> {
    let schema: Schema = rule.build().unwrap();
    let (open, strict) = (ValidationOptions::new(), ValidationOptions::new().allow_unknown(false));
    let documents = [schema.to_json_schema(), schema.export().closed(true).to_value()];
    let mut valid = 0;
    for (document, options) in documents.iter().zip([open, strict]) {
        let validator = validate(document);
        for data in data {
            let errors = schema.check(data, &options).unwrap();
            prop_assert_eq!(
                validator.is_valid(data),
                errors.is_empty(),
                "{} for {}",
                data,
                document
            );
            valid += usize::from(errors.is_empty());
        }
    }
    Ok(valid)
}

#[test]
fn generated_schemas_agree_with_their_exports() {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let valid = std::cell::Cell::new(0);
    let values = prop::collection::vec(value(), 12);
    runner
        .run(&(rule(), values), |(rule, values)| {
            valid.set(valid.get() + check(rule, &values)?);
            Ok(())
        })
        .unwrap();
    // Both results are frequent.
    assert!((500..9_000).contains(&valid.get()), "{} of 9,600 are valid", valid.get());
}
