//! Typed values read from JSON and validated on the way.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_validation::{
    HasSchema, ReadError, Rule, Schema, ValidationOptions, read_value, validate_against_schema,
};

use crate::keyword_table::{ROWS, Row};
use crate::properties::{sample, value};
use crate::support::lines;

#[derive(Debug, Deserialize, PartialEq)]
struct Fields {
    a: Option<Value>,
    b: Option<Vec<i64>>,
    c: Option<String>,
    #[serde(default)]
    d: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Flat {
    a: Value,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Choice {
    A,
    B(Value),
    C { a: i64 },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Number(f64),
    Pair(i64, i64),
    Fields(Fields),
    Other(Value),
}

#[test]
fn reads_integers_larger_than_every_type() {
    #[derive(Debug, Deserialize)]
    struct Typed<T> {
        n: T,
    }
    #[track_caller]
    fn check<T: DeserializeOwned + std::fmt::Debug>(number: &str, expected: &str) {
        let schema = Rule::object([("n", Rule::integer())]).build().unwrap();
        let options = ValidationOptions::new();
        let text = format!(r#"{{"n":{number}}}"#);
        let data: Value = serde_json::from_str(&text).unwrap();
        // The schema sees an integer, whatever the type does with it.
        assert_eq!(schema.check(&data, &options).unwrap(), [], "{number}");
        assert!(schema.read_json::<Value>(text.as_bytes(), &options).is_ok());
        let ways = [
            schema.read_json::<Typed<T>>(text.as_bytes(), &options),
            schema.read_value::<Typed<T>>(&data, &options),
        ];
        for read in ways {
            assert_eq!(shown(read.map(|typed| typed.n)), expected, "{number}");
        }
    }
    let refused = "n: The integer is out of range (type)";
    for huge in
        ["18446744073709551616", "-9223372036854775809", "1e300", "123456789012345678901234567890"]
    {
        check::<u64>(huge, refused);
        check::<i64>(huge, refused);
    }
    check::<u64>("18446744073709551615", "18446744073709551615");
    check::<u8>("256", refused);
    check::<u8>("255.0", "255");
    check::<u64>("1e3", "1000");

    let fraction = Rule::integer().build().unwrap();
    for number in ["1.5", "-0.5", "2251799813685248.5"] {
        let read = fraction.read_json::<Value>(number.as_bytes(), &ValidationOptions::new());
        assert_eq!(shown(read), ": Expected integer, got number (type)", "{number}");
    }
}

/// Returns the result of a path as text: a value with its order, or errors.
fn shown<T: std::fmt::Debug>(result: Result<T, ReadError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(ReadError::Invalid(errors)) => lines(&errors).join("\n"),
        Err(ReadError::Syntax(_)) => "syntax".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Reads on the slow path, step by step.
fn slowly<T: DeserializeOwned>(
    schema: &Schema,
    text: &str,
    options: &ValidationOptions,
) -> Result<T, ReadError> {
    let data: Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    let outcome = validate_against_schema(schema, data, options)?;
    if !outcome.valid() {
        return Err(ReadError::Invalid(outcome.errors));
    }
    read_value(&outcome.data)
}

#[track_caller]
fn agree<T: DeserializeOwned + std::fmt::Debug>(
    (schema, slow): &(&Schema, &Schema),
    text: &str,
    options: &ValidationOptions,
) {
    let expected = shown(slowly::<T>(slow, text, options));
    let actual = shown(schema.read_json::<T>(text.as_bytes(), options));
    assert_eq!(actual, expected, "{schema:?} for {text}");
    if let Ok(data) = serde_json::from_str(text) {
        let actual = shown(schema.read_value::<T>(&data, options));
        assert_eq!(actual, expected, "{schema:?} for the value {text}");
    }
}

/// Checks that both paths agree for types of all shapes. A rule with a function
/// uses the slow path.
#[track_caller]
pub(crate) fn agree_for_all(rule: &Value, text: &str, options: &ValidationOptions) {
    let quick = &Schema::from_value(rule).unwrap();
    let slow = &Rule::from_value(rule).custom(|_, _, _| true).build().unwrap();
    let data: Value = serde_json::from_str(text).unwrap();
    let expected = validate_against_schema(slow, data.clone(), options).unwrap();
    assert_eq!(quick.check(&data, options).unwrap(), expected.errors, "{rule} for {text}");
    let outcome = validate_against_schema(quick, data, options).unwrap();
    assert_eq!(outcome.errors, expected.errors, "{rule} for {text}");
    assert_eq!(outcome.data.to_string(), expected.data.to_string(), "{rule} for {text}");

    let schema = &(quick, slow);
    agree::<Value>(schema, text, options);
    agree::<Fields>(schema, text, options);
    agree::<Option<Flat>>(schema, text, options);
    agree::<Choice>(schema, text, options);
    agree::<Either>(schema, text, options);
    agree::<BTreeMap<String, Value>>(schema, text, options);
    agree::<Vec<Either>>(schema, text, options);
    agree::<(f32, Option<String>)>(schema, text, options);
    agree::<i128>(schema, text, options);
    agree::<char>(schema, text, options);
    agree::<()>(schema, text, options);
    agree::<IgnoredAny>(schema, text, options);
}

fn options() -> impl Strategy<Value = ValidationOptions> {
    (any::<bool>(), any::<Option<bool>>(), any::<bool>(), any::<bool>()).prop_map(
        |(strip, allow, coerce, list)| {
            let mut options = ValidationOptions::new().strip_unknown(strip).coerce_types(coerce);
            options.allow_unknown = allow;
            options.list_from_one(list)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_path_agrees_with_the_slow_path(
        (rule, good, bad) in sample(), other in value(), options in options(),
    ) {
        for data in [&good, &bad.0, &other] {
            agree_for_all(&rule, &data.to_string(), &options);
        }
    }

    #[test]
    fn fields_with_all_keywords_agree(
        picks in prop::collection::vec(0..RULES.len(), 5),
        data in prop::collection::hash_map("[a-ez]", field(), 0..5),
        options in options(),
    ) {
        let rules: serde_json::Map<String, Value> = "abcde"
            .chars()
            .zip(picks)
            .map(|(name, pick)| (name.to_string(), RULES[pick].clone()))
            .collect();
        let rule = json!({ "type": "object", "properties": rules });
        // In hash order, which is arbitrary.
        let members: Vec<_> = data.iter().map(|(name, it)| format!("{name:?}: {it}")).collect();
        agree_for_all(&rule, &format!("{{{}}}", members.join(", ")), &options);
    }

    // Regression: `z`, which is required without being a property, counted
    // twice.
    #[test]
    fn names_and_counts_agree(
        required in prop::sample::subsequence(vec!["a", "z"], 0..=2),
        (min, more) in (0..4_u8, 0..4_u8),
        names in prop::collection::vec("[abyz]", 0..4),
    ) {
        let rule = json!({
            "type": "object",
            "properties": { "a": {}, "b": {} },
            "required": required,
            "minProperties": min,
            "maxProperties": min + more,
        });
        // Names may be duplicated.
        let members: Vec<_> = names.iter().map(|name| format!("{name:?}: 1")).collect();
        let text = format!("{{{}}}", members.join(", "));
        let quick = &Schema::from_value(&rule).unwrap();
        let slow = &Rule::from_value(&rule).custom(|_, _, _| true).build().unwrap();
        let options = ValidationOptions::new();
        agree::<Value>(&(quick, slow), &text, &options);
        agree::<BTreeMap<String, Value>>(&(quick, slow), &text, &options);
    }

    #[test]
    fn any_bytes_give_a_result(text: Vec<u8>) {
        let schema = Schema::from_value(&json!({ "a": { "type": "string" } })).unwrap();
        let _ = schema.read_json::<Fields>(&text, &ValidationOptions::new());
    }
}

/// Rules for generated data: one for each keyword, and some with several keywords.
pub(crate) static RULES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let combined = COMBINED.iter().map(|text| serde_json::from_str(text).unwrap());
    ROWS.iter().map(|row| row.rule.clone()).chain(combined).collect()
});

const COMBINED: &[&str] = &[
    "{}",
    r#"{ "type": "string", "trim": true, "required": true }"#,
    r#"{ "type": "string", "minLength": 2, "max": 3.5 }"#,
    r#"{ "type": ["email", "uuid", "null"], "nullable": true }"#,
    r#"{ "type": "integer", "minimum": 0, "exclusiveMaximum": 5 }"#,
    r#"{ "type": "integer", "max": 2.5, "min": -0.5, "default": 1 }"#,
    r#"{ "type": "string", "default": "none" }"#,
    r#"{ "type": "boolean", "required": true }"#,
    r#"{ "enum": ["a", 1, null, true, [1], { "a": 1 }] }"#,
    r#"{ "enum": ["a", 1.0, null, false] }"#,
    r#"{ "const": "b" }"#,
    r#"{ "type": "array", "uniqueItems": true, "min": 1 }"#,
    r#"{ "type": "array", "items": { "type": "integer", "maximum": 3 }, "max": 2 }"#,
    r#"{ "max": -1 }"#,
    r#"{ "nullable": true, "type": "object", "properties": { "a": { "type": "integer" } } }"#,
    r#"{ "type": "object", "required": ["z"], "minProperties": 2, "maxProperties": 3 }"#,
    r#"{ "additionalProperties": { "type": "integer" }, "properties": {} }"#,
    r#"{ "additionalProperties": false, "required": ["a"], "properties": { "a": {}, "b": {} } }"#,
];

fn field() -> impl Strategy<Value = Value> {
    const TEXTS: &[&str] = &["", " ", "a", " b ", "1", "true", "é", "abcd", "ada@example.com"];
    let of_rows: Vec<Value> = ROWS.iter().flat_map(Row::values).cloned().collect();
    prop_oneof![
        value(),
        prop::sample::select(of_rows),
        prop::sample::select(TEXTS).prop_map(Value::from),
        (-1..6).prop_map(|whole| json!(whole)),
        (-1..6).prop_map(|whole| json!(f64::from(whole))),
        (0..2).prop_map(|whole| json!({ "z": whole })),
        (0..2).prop_map(|whole| json!({ "z": whole, "a": 1 })),
        prop::collection::vec(-1..4, 0..3).prop_map(Value::from),
    ]
}

#[track_caller]
fn read_lines<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    let any = Schema::from_value(&json!({})).unwrap();
    shown(any.read_json::<T>(text.as_bytes(), &ValidationOptions::new()))
}

#[test]
fn a_mismatching_value_names_its_field() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Outer {
        id: u8,
        list: Vec<Inner>,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Inner {
        name: String,
    }
    for (text, expected) in [
        (r#"{ "id": "x", "list": [] }"#, "id: Expected integer, got string (type)"),
        (r#"{ "id": 300, "list": [] }"#, "id: The integer is out of range (type)"),
        (r#"{ "id": 1.5, "list": [] }"#, "id: Expected integer, got number (type)"),
        (r#"{ "id": null, "list": [] }"#, "id: Expected integer, got null (type)"),
        (r#"{ "id": 1 }"#, "list: Required field 'list' is missing (type)"),
        (
            r#"{ "id": 1, "list": [{ "name": "a" }, {}] }"#,
            "list[1].name: Required field 'name' is missing (type)",
        ),
        (
            r#"{ "id": 1, "list": [{ "name": [] }] }"#,
            "list[0].name: Expected string, got array (type)",
        ),
        (r#"{ "id": 1, "list": {} }"#, "list: Expected array, got object (type)"),
        (r#"{ "id": 1, "list": [], "more": 1 }"#, "more: Unknown field 'more' (type)"),
        (r#"{ "id": 1, "id": 2, "list": [] }"#, "id: Duplicate field 'id' (type)"),
        (r#"[1, []]"#, ": Expected object, got array (type)"),
        ("3", ": Expected object, got integer (type)"),
    ] {
        assert_eq!(read_lines::<Outer>(text), expected, "{text}");
    }
}

#[test]
fn a_duplicate_key() {
    let schema = Schema::from_value(&json!({
        "d": { "type": "integer", "default": 1 }, "c": { "type": "string", "trim": true },
    }))
    .unwrap();
    let options = ValidationOptions::new();
    let twice = br#"{ "d": 1, "d": 2, "e": 1, "e": 2 }"#;
    let map: BTreeMap<String, i64> = schema.read_json(twice, &options).unwrap();
    assert_eq!(map, BTreeMap::from([("d".to_owned(), 2), ("e".to_owned(), 2)]));
    let typed = shown(schema.read_json::<Fields>(twice, &options));
    assert_eq!(typed, "d: Duplicate field 'd' (type)");

    // Also without the fast path.
    let slow = Rule::from_value(&json!({ "e": {} })).custom(|_, _, _| true).build().unwrap();
    let typed = shown(slow.read_json::<Fields>(twice, &options));
    assert_eq!(typed, "d: Duplicate field 'd' (type)");
    assert_eq!(slow.read_json::<BTreeMap<String, i64>>(twice, &options).unwrap(), map);
}

#[test]
fn text_that_is_not_json() {
    let schema = Schema::from_value(&json!({ "a": {} })).unwrap();
    let deep = |levels: usize| {
        format!(r#"{{ "skipped": {}1{} }}"#, "[".repeat(levels), "]".repeat(levels)).into_bytes()
    };
    let texts: [&[u8]; 12] = [
        b"",
        b" \n",
        b"{",
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b"{ \"skipped\": \"\xff\" }",
        b"{ \"skipped\": \"\\ud800\" }",
        b"{ \"skipped\": 1e400 }",
        b"{ \"skipped\": 01 }",
        b"{ 'a': 1 }",
        &deep(127),
        &deep(10_000),
    ];
    for text in texts {
        let error = schema.read_json::<Fields>(text, &ValidationOptions::new()).unwrap_err();
        assert!(matches!(error, ReadError::Syntax(_)), "{:?}: {error}", text.escape_ascii());
        let answer = ApiError::from(error);
        assert_eq!((answer.status(), answer.message()), (400, "Invalid JSON body"));
    }
    assert!(schema.read_json::<Fields>(&deep(126), &ValidationOptions::new()).is_ok());
    let error = schema.read_json::<Value>(b"{\n  x", &ValidationOptions::new()).unwrap_err();
    let ReadError::Syntax(error) = error else { panic!("{error}") };
    assert_eq!((error.line(), error.column()), (2, 3));
}

#[test]
fn a_failing_function_is_a_500() {
    let rule = Rule::any().transform(|_| Err::<Value, _>("no answer"));
    let schema = Rule::object([("a", rule)]).build().unwrap();
    let read = schema.read_json::<Fields>(br#"{ "a": 1 }"#, &ValidationOptions::new());
    let error = ApiError::from(read.unwrap_err());
    assert_eq!(error.status(), 500);
}

// Regression: such a name counted twice, so the fast path accepted a single
// member.
#[test]
fn a_name_that_is_only_required_counts_once() {
    let schema = Schema::rule(&json!({ "required": ["a"], "minProperties": 2 })).unwrap();
    let options = ValidationOptions::new();
    let read =
        |text: &str| shown(schema.read_json::<BTreeMap<String, i64>>(text.as_bytes(), &options));
    assert_eq!(read(r#"{"a":1}"#), ": Object must have at least 2 properties (minProperties)");
    assert_eq!(read(r#"{"a":1,"b":2}"#), r#"{"a": 1, "b": 2}"#);
}

// Regression: a number that serde_json passes on as a map counted as an object.
#[test]
fn a_number_passed_as_a_map_is_not_an_object() {
    let options = ValidationOptions::new();
    let read = |rule: &Value, name: &'static str| {
        let schema = Schema::from_value(rule).unwrap();
        let text = format!(r#"{{"m":{{"{name}":"1.5"}}}}"#);
        schema.read_quickly::<BTreeMap<String, IgnoredAny>>(&text, &options).is_some()
    };
    for rule in [
        json!({ "m": { "type": "object" } }),
        json!({ "m": { "type": "object", "properties": { "a": {} } } }),
    ] {
        assert!(read(&rule, "b"), "{rule}");
        for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
            assert!(!read(&rule, name), "{rule}");
        }
    }
}

// Regression: the schema accepted `1.0` as an integer, but the type did not.
#[test]
fn a_whole_float_is_read_as_an_integer() {
    let schema = Schema::from_value(&json!({ "v": { "type": "integer" } })).unwrap();
    let custom = Rule::integer().custom(|_, _, _| true);
    let slow = Rule::object([("v", custom)]).build().unwrap();
    let options = ValidationOptions::new();
    for (given, expected) in [
        ("1.0", json!(1)),
        ("-3e0", json!(-3)),
        ("-0.0", json!(0)),
        ("9223372036854775808.0", json!(1_u64 << 63)),
        // Beyond 64 bits, the number does not change.
        ("1e300", json!(1e300)),
        ("7", json!(7)),
    ] {
        let text = format!(r#"{{"v":{given}}}"#);
        let data: Value = serde_json::from_str(&text).unwrap();
        for schema in [&schema, &slow] {
            let outcome = validate_against_schema(schema, data.clone(), &options).unwrap();
            assert!(outcome.valid() && schema.check(&data, &options).unwrap().is_empty());
            assert_eq!(outcome.data["v"], expected, "{given}");
            let read: Value = schema.read_json(text.as_bytes(), &options).unwrap();
            assert_eq!(read["v"], expected, "{given}");
        }
    }
    for text in [r#"{"v":1.0}"#, r#"{"v":1}"#] {
        for schema in [&schema, &slow] {
            let read = schema.read_json::<BTreeMap<String, u32>>(text.as_bytes(), &options);
            assert_eq!(read.unwrap()["v"], 1);
        }
        // The fast path has the same result.
        let read = schema.read_quickly::<BTreeMap<String, u32>>(text, &options);
        assert_eq!(read.unwrap()["v"], 1);
    }
    // The number does not change if other numbers are allowed or the type is
    // open.
    for rule in [json!({ "type": ["integer", "number"] }), json!({ "enum": [1] })] {
        let schema = Schema::from_value(&json!({ "v": rule })).unwrap();
        let outcome = validate_against_schema(&schema, json!({ "v": 1.0 }), &options).unwrap();
        assert_eq!(outcome.data, json!({ "v": 1.0 }));
    }
}

// Regression: the type stopped at the text of `n` and never saw the second `x`.
#[test]
fn a_duplicate_field_after_a_changed_one() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Outer {
        n: u8,
        list: Vec<Inner>,
        map: BTreeMap<String, u8>,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Inner {
        x: u8,
    }
    let schema = Schema::from_value(&json!({
        "n": { "type": "integer" },
        "list": { "type": "array", "items": { "x": { "type": "integer" } } },
        "map": { "type": "object" },
    }))
    .unwrap();
    let options = ValidationOptions::new().coerce_types(true);
    let read = |text: &str| shown(schema.read_json::<Outer>(text.as_bytes(), &options));
    for (text, expected) in [
        (
            r#"{ "n": "1", "list": [{ "x": "1" }, { "x": 1, "x": 2 }], "map": {} }"#,
            "list[1].x: Duplicate field 'x' (type)",
        ),
        (r#"{ "n": "1", "list": [], "map": {}, "n": "2" }"#, "n: Duplicate field 'n' (type)"),
        // Names that are not fields of the type may be duplicated.
        (
            r#"{ "n": "1", "list": [], "map": { "a": 1, "a": 2 }, "e": 1, "e": 2 }"#,
            r#"Outer { n: 1, list: [], map: {"a": 2} }"#,
        ),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

// Regression: every value of a long list was compared with the current value.
#[test]
fn long_lists_of_values_agree() {
    let texts = (0..30).map(|at| Value::from("x".repeat(at % 7) + &at.to_string()));
    let numbers = (0..30).map(|at| json!(f64::from(at) * 1.5 - 10.0));
    let values: Vec<Value> = texts.chain(numbers).collect();
    let rule = &json!({ "v": { "enum": values } });
    let schema = Schema::from_value(rule).unwrap();
    for value in values.iter().cloned().chain([json!("y"), json!(""), json!(-10.5), json!(100)]) {
        let text = json!({ "v": value }).to_string();
        agree_for_all(rule, &text, &ValidationOptions::new());
        let options = ValidationOptions::new();
        let quick = schema.read_quickly::<Value>(&text, &options).is_some();
        let data = serde_json::from_str(&text).unwrap();
        assert_eq!(quick, schema.check(&data, &options).unwrap().is_empty(), "{text}");
    }
}

struct Nick;

impl HasSchema for Nick {
    fn rule() -> Rule {
        Rule::string().trim()
    }
}

// Regression: a required field with such a type disabled the fast path for the
// whole schema.
#[test]
fn a_required_definition_is_read_quickly() {
    let schema = Rule::object([
        ("nick", Rule::of::<Nick>().required()),
        ("other", Rule::of::<Nick>().required().nullable()),
    ]);
    let schema = schema.build().unwrap();
    let options = ValidationOptions::new();
    for (text, expected) in [
        (r#"{ "nick": " a ", "other": null }"#, true),
        (r#"{ "nick": " a ", "other": "" }"#, false),
        (r#"{ "nick": "  ", "other": "a" }"#, false),
        (r#"{ "nick": "", "other": "a" }"#, false),
        (r#"{ "nick": null, "other": "a" }"#, false),
        (r#"{ "other": "a" }"#, false),
    ] {
        let quick = schema.read_quickly::<Value>(text, &options);
        assert_eq!(quick.is_some(), expected, "{text}");
        let data = serde_json::from_str(text).unwrap();
        assert_eq!(schema.check(&data, &options).unwrap().is_empty(), expected, "{text}");
    }
}

#[test]
fn whole_numbers_are_exact_up_to_their_limits() {
    let read = |rule: Value, text: &str| {
        let schema = Schema::from_value(&rule).unwrap();
        schema.read_json::<i128>(text.as_bytes(), &ValidationOptions::new()).is_ok()
            && schema.read_json::<f64>(text.as_bytes(), &ValidationOptions::new()).is_ok()
    };
    let check = |rule: Value, right: &[&str], wrong: &[&str]| {
        for text in right {
            assert!(read(rule.clone(), text), "{rule} {text}");
        }
        for text in wrong {
            assert!(!read(rule.clone(), text), "{rule} {text}");
        }
    };
    check(json!({ "type": "integer" }), &["0", "-1", "18446744073709551615"], &["1.5"]);
    check(json!({ "type": "number", "minimum": 3, "maximum": 9 }), &["3", "9"], &["2", "10", "-3"]);
    check(
        json!({ "type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 9 }),
        &["4", "8"],
        &["3", "9"],
    );
    check(json!({ "type": "number", "minimum": -2, "maximum": -1 }), &["-2", "-1"], &["0", "1"]);
    check(json!({ "type": "number", "minimum": 2.5 }), &["3"], &["2"]);
    check(json!({ "type": "number", "enum": [1, 3] }), &["1", "3"], &["2"]);
    check(json!({ "type": "string" }), &[], &["0"]);
}
