//! Hostile input: depth, width, length, unusual numbers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value, json};
use stockade_errors::FieldError;
use stockade_validation::__internal::{FORMATS, TEXT_TYPES};
use stockade_validation::{ReadError, Schema, ValidationOptions};

use crate::support::{lines, validate};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| json!([value]))
}

/// The processor time limit for one validation. A debug build takes at most two
/// seconds; quadratic work takes minutes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the outcome of `work`, which must not take longer than [`PATIENCE`].
/// Only the time in which this thread runs counts, so a busy machine does not
/// fail the test.
#[track_caller]
fn timed<T>(work: impl FnOnce() -> T) -> T {
    let start = ThreadTime::now();
    let outcome = work();
    let taken = start.elapsed();
    assert!(taken < PATIENCE, "{taken:?}");
    outcome
}

#[track_caller]
fn in_time(schema: &Value, data: &Value) -> Vec<FieldError> {
    let schema = Schema::from_value(schema).unwrap();
    let options = ValidationOptions::new().max_errors(usize::MAX);
    timed(|| validate(&schema, data, &options)).errors
}

#[test]
fn depth_is_bounded() {
    for schema in [json!({}), json!({ "type": "array" }), json!({ "uniqueItems": true })] {
        assert_eq!(lines(&in_time(&schema, &nested(128))), Vec::<String>::new());
        let expected = [": Value is nested more than 128 levels deep (depth)"];
        assert_eq!(lines(&in_time(&schema, &nested(129))), expected);
        assert_eq!(lines(&in_time(&schema, &nested(500))), expected);
    }
}

#[test]
fn depth_of_schemas_is_bounded() {
    let deep = |levels: usize| (0..levels).fold(json!({}), |rule, _| json!({ "items": rule }));
    assert!(Schema::from_value(&deep(127)).is_ok());
    for levels in [128, 129, 500] {
        let error = Schema::from_value(&deep(levels)).unwrap_err();
        let message = error.issues()[0].message();
        assert!(message.ends_with("the schema is nested more than 128 levels deep"), "{message}");
    }
    for schema in [json!({ "const": nested(500) }), json!({ "default": nested(500), "min": 1 })] {
        let message = Schema::from_value(&schema).unwrap_err().to_string();
        assert!(message.contains("is nested more than 128 levels deep"), "{message}");
    }
    // The deepest value for the deepest schema.
    let schema = (0..127)
        .fold(json!({ "type": "integer" }), |rule, _| json!({ "items": rule, "type": "array" }));
    assert_eq!(in_time(&schema, &nested(127)), []);
}

#[test]
fn width_takes_linear_time() {
    let keys: Map<String, Value> = (0..100_000).map(|n| (format!("k{n}"), json!(n))).collect();
    let keys = Value::Object(keys);
    let refused = json!({ "properties": { "k7": {} }, "additionalProperties": false });
    assert_eq!(in_time(&refused, &keys).len(), 99_999);
    let checked = json!({ "a": { "default": 1 }, "k9": { "type": "integer" } });
    assert_eq!(in_time(&checked, &keys), []);
    let map = json!({ "additionalProperties": { "type": "string" }, "type": "object" });
    assert_eq!(in_time(&map, &keys).len(), 100_000);

    let numbers: Value = (0..200_000).collect();
    assert_eq!(in_time(&json!({ "uniqueItems": true }), &numbers), []);
    let objects: Value = (0..50_000).map(|n| json!({ "a": n, "b": [n] })).collect();
    assert_eq!(in_time(&json!({ "uniqueItems": true }), &objects), []);
}

#[test]
fn long_texts_take_bounded_time() {
    let texts = [
        "a".repeat(100_000),
        "a ".repeat(50_000),
        "1".repeat(100_000),
        "a.".repeat(50_000),
        "@".repeat(100_000),
        ":".repeat(100_000),
        format!("{}!", "a".repeat(99_999)),
    ];
    let patterns = [
        "(a+)+$",
        "^(a|aa)+$",
        "^(?=.*[0-9])(?=.*[A-Z]).{8,}$",
        "(?=.*[0-9])(?=.*[A-Z]).{8,}",
        r"^(a+)+\1$",
        r"(.*)x\1",
        "(?<!b)c",
    ];
    let formats = FORMATS.iter().map(|format| json!({ "format": format.name() }));
    let types = TEXT_TYPES.iter().map(|form| json!({ "type": form.name() }));
    let patterns = patterns.map(|pattern| json!({ "pattern": pattern }));
    for rule in formats.chain(types).chain(patterns) {
        for text in &texts {
            in_time(&rule, &json!(text));
        }
    }
}

/// Validates text with the default options, as parsed data and while reading it
/// into a type. Returns the number of errors.
#[track_caller]
fn count_in_time(schema: &Value, text: &str, options: &ValidationOptions) -> usize {
    let schema = Schema::from_value(schema).unwrap();
    let data: Value = serde_json::from_str(text).unwrap();
    let (errors, read) = timed(|| {
        let errors = schema.check(&data, options).unwrap();
        (errors, schema.read_json::<Value>(text.as_bytes(), options))
    });
    match read {
        Err(ReadError::Invalid(read)) => assert_eq!(read, errors),
        other => assert!(other.is_ok() && errors.is_empty(), "{other:?} {errors:?}"),
    }
    let bytes: usize = errors.iter().map(|error| error.field.len() + error.message.len()).sum();
    assert!(bytes < 5_000_000, "{bytes} bytes of errors");
    errors.len()
}

#[test]
fn errors_are_bounded_in_number_and_size() {
    let options = ValidationOptions::new();
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let wrong = format!("[{}1]", "1,".repeat(500_000));
    assert_eq!(count_in_time(&texts, &wrong, &options), 1_000);
    assert_eq!(count_in_time(&texts, &wrong, &options.clone().max_errors(7)), 7);
    assert_eq!(count_in_time(&texts, &wrong, &options.clone().max_errors(0)), 1);

    // A long key is shortened in each path.
    let key = "k".repeat(500_000);
    let text = format!(r#"{{ "{key}": [{}1] }}"#, "1,".repeat(5_000));
    assert_eq!(count_in_time(&json!({ "additionalProperties": texts }), &text, &options), 1_000);

    let keys: Vec<String> = (0..100_000).map(|n| format!(r#""key{n}": {n}"#)).collect();
    let keys = format!("{{{}}}", keys.join(","));
    let closed = json!({ "key7": { "type": "integer" } });
    assert_eq!(count_in_time(&closed, &keys, &options), 0);
    assert_eq!(count_in_time(&closed, &keys, &options.clone().allow_unknown(false)), 1_000);
    let counted = json!({ "type": "object", "maxProperties": 9 });
    assert_eq!(count_in_time(&counted, &keys, &options), 1);
}

/// Returns the errors of a text, from parsed data and from reading it into `T`.
fn both_errors<T>(schema: &Schema, text: &str, options: &ValidationOptions) -> Vec<FieldError>
where
    T: DeserializeOwned + Debug,
{
    let listed = |error: ReadError| match error {
        ReadError::Invalid(errors) => errors,
        other => vec![FieldError::new("", other.to_string(), "none")],
    };
    let read = listed(schema.read_json::<T>(text.as_bytes(), options).unwrap_err());
    let data: Value = serde_json::from_str(text).unwrap();
    assert_eq!(read, listed(schema.read_value::<T>(&data, options).unwrap_err()));
    read
}

#[test]
fn errors_name_fields_by_200_bytes_at_most() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Closed {
        #[expect(dead_code, reason = "only read")]
        a: Option<u8>,
    }
    #[derive(Debug, Deserialize)]
    enum Choice {
        A,
    }
    let options = ValidationOptions::new();
    for (letter, kept) in [("n", 197), ("ä", 98), ("💩", 49)] {
        let name = letter.repeat(1 << 18);
        let short = format!("{}…", letter.repeat(kept));
        let flat = format!(r#"{{ "{name}": null }}"#);
        let deep = format!(r#"{{ "{name}": {{ "b": [null] }} }}"#);
        let unknown = format!("Unknown field '{short}'");
        let missing = format!("Required field '{short}' is missing");
        let inner = json!({ "b": { "type": "array", "items": { "type": "string" } } });
        for (rule, text, field, message, error_rule) in [
            (
                json!({ "additionalProperties": false }),
                &flat,
                &short,
                &*unknown,
                "additionalProperties",
            ),
            (
                json!({ "additionalProperties": { "required": true } }),
                &flat,
                &short,
                &missing,
                "required",
            ),
            (
                json!({ "additionalProperties": inner }),
                &deep,
                &short,
                "Expected string, got null",
                "type",
            ),
        ] {
            let schema =
                Schema::from_value(&json!({ "type": "object", "properties": {} })).unwrap();
            assert!(schema.read_json::<Value>(text.as_bytes(), &options).is_ok());
            let mut rule = rule;
            rule["type"] = json!("object");
            let schema = Schema::from_value(&rule).unwrap();
            let errors = both_errors::<Value>(&schema, text, &options);
            assert_eq!(errors, [FieldError::new(field.clone(), message.to_owned(), error_rule)]);
        }

        // Values that only the type rejects.
        let any = Schema::rule(&json!({})).unwrap();
        let errors = both_errors::<Closed>(&any, &flat, &options);
        assert_eq!(errors, [FieldError::new(short.clone(), unknown, "type")]);
        let errors = both_errors::<BTreeMap<String, u8>>(&any, &flat, &options);
        assert_eq!(errors, [FieldError::new(short, "Expected integer, got null", "type")]);
        let errors = both_errors::<Choice>(&any, &format!("{name:?}"), &options);
        assert!(errors[0].message.len() <= 1_000, "{} bytes", errors[0].message.len());
    }
}

#[test]
fn does_not_copy_long_names_for_many_errors() {
    let options = ValidationOptions::new().max_errors(1_000);
    let key = "k".repeat(900_000);
    let text = format!(r#"{{ "{key}": [{}1] }}"#, "1,".repeat(5_000));
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let schema = Schema::rule(&json!({ "additionalProperties": texts })).unwrap();
    let info = allocation_counter::measure(|| {
        let read = schema.read_json::<IgnoredAny>(text.as_bytes(), &options);
        assert!(matches!(read, Err(ReadError::Invalid(errors)) if errors.len() == 1_000));
    });
    assert!(info.bytes_max < 2_000_000, "{info:?}");
}

#[test]
fn checks_unusual_texts_in_bounded_time() {
    let options = ValidationOptions::new();
    for rule in [
        json!({ "type": "url" }),
        json!({ "type": ["email", "phone", "credit-card", "date", "uuid"] }),
        json!({ "format": "uri" }),
        json!({ "format": "email" }),
        json!({ "format": "hostname" }),
        json!({ "format": "date-time" }),
        json!({ "pattern": "^(a+)+$" }),
        json!({ "minLength": 2_000_000, "trim": true }),
        json!({ "enum": ["a", "b"] }),
        json!({ "type": "integer" }),
    ] {
        for text in ["a", " ", "%", "é", "\\u00e9", "a@", "http://a/", "1-"] {
            let long = format!("{:?}", text.repeat(300_000 / text.len())).replace("\\\\", "\\");
            assert_eq!(
                count_in_time(&rule, &long, &options) == 0,
                [("^(a+)+$", "a"), ("uri", "http://a/")].iter().any(|(known, good)| {
                    [&rule["pattern"], &rule["format"]].contains(&&json!(known)) && text == *good
                }),
                "{rule} {text}"
            );
        }
    }
}

#[test]
fn rejects_invalid_numbers_and_excessive_depth() {
    let schema = Schema::from_value(&json!({ "a": { "type": "number" } })).unwrap();
    let options = ValidationOptions::new();
    let deep = "[".repeat(10_000);
    let digits = "9".repeat(1_000_000);
    for value in ["1e400", "-1e400", r#""\ud800""#, &deep, &digits, "1e99999999999"] {
        for name in ["a", "b"] {
            let text = format!(r#"{{ "{name}": {value} }}"#);
            let read = timed(|| schema.read_json::<Map<String, Value>>(text.as_bytes(), &options));
            assert!(matches!(read, Err(ReadError::Syntax(_))), "{name} {read:?}");
        }
    }
    let fraction = format!(r#"{{ "a": 0.{digits}, "b": 1e-400 }}"#);
    assert!(schema.read_json::<Value>(fraction.as_bytes(), &options).is_ok());
}

#[test]
fn numbers_are_exact() {
    let rule = json!({ "const": 9_007_199_254_740_993_u64 });
    assert_eq!(in_time(&rule, &json!(9_007_199_254_740_993_u64)), []);
    assert_eq!(in_time(&rule, &json!(9_007_199_254_740_992_u64)).len(), 1);
    let rule = json!({ "uniqueItems": true });
    assert_eq!(in_time(&rule, &json!([u64::MAX, 18_446_744_073_709_551_616.0_f64])), []);
    // serde_json rejects numbers that do not fit into a float.
    assert!(serde_json::from_str::<Value>("1e400").is_err());
    let options = ValidationOptions::new().coerce_types(true);
    let schema = Schema::from_value(&json!({ "type": "number" })).unwrap();
    let errors = validate(&schema, &json!("1e400"), &options).errors;
    assert_eq!(lines(&errors), [": Expected number, got string (type)"]);
    let long = "9".repeat(300);
    assert!(validate(&schema, &json!(long), &options).valid());
}

/// Returns a value nested in objects.
fn chain(levels: usize, last: Value) -> Value {
    (0..levels).fold(last, |value, _| json!({ "a": value }))
}

#[test]
fn alternatives_take_bounded_time() {
    // Each level doubles the number of ways to fail.
    for schema in [
        json!({ "$ref": "#/$defs/n", "$defs": { "n": { "anyOf": [
            { "properties": { "a": { "$ref": "#/$defs/n" } }, "type": "object" },
            { "properties": { "a": { "$ref": "#/$defs/n" } }, "minProperties": 1, "type": "object" },
        ] } } }),
        json!({ "$ref": "#/$defs/n", "$defs": { "n": { "type": "object", "allOf": [
            { "properties": { "a": { "$ref": "#/$defs/n" } } },
            { "properties": { "a": { "$ref": "#/$defs/n" } } },
        ] } } }),
        json!({ "$ref": "#/$defs/n", "$defs": { "n": { "not": { "not": {
            "type": "object",
            "properties": { "a": { "$ref": "#/$defs/n" } },
            "unevaluatedProperties": false,
            "allOf": [{ "properties": { "a": { "$ref": "#/$defs/n" } } }],
        } } } } }),
    ] {
        let errors = in_time(&schema, &chain(100, json!(1)));
        let rules: Vec<&str> = errors.iter().map(|error| &*error.rule).collect();
        assert!(rules.contains(&"schemaLimit"), "{schema}: {} errors", rules.len());
        let reads = Schema::from_value(&schema).unwrap();
        let text = chain(100, json!(1)).to_string();
        let outcome =
            timed(|| reads.read_json::<Value>(text.as_bytes(), &ValidationOptions::new()));
        assert!(matches!(outcome, Err(ReadError::Invalid(_))), "{schema}");
        // Data without nesting is still checked.
        assert_ne!(in_time(&schema, &json!(1)), []);
    }
}

#[test]
fn wide_data_has_steps_for_each_value() {
    let branches: Vec<Value> = (0..50)
        .map(|n| json!({ "properties": { "kind": { "const": n }, "x": {} }, "required": ["kind"] }))
        .collect();
    let schema =
        json!({ "items": { "type": "object", "oneOf": branches, "unevaluatedProperties": false } });
    let items =
        |count: usize| -> Value { (0..count).map(|n| json!({ "kind": n % 50, "x": n })).collect() };
    assert_eq!(in_time(&schema, &items(5_000)), []);
}

#[test]
fn alternatives_are_nested_to_a_bound() {
    let deep = |levels: usize| (0..levels).fold(json!({}), |rule, _| json!({ "anyOf": [rule] }));
    assert_eq!(in_time(&deep(127), &json!(1)), []);
    for levels in [128, 500] {
        let message = Schema::from_value(&deep(levels)).unwrap_err().to_string();
        assert!(message.contains("nested more than 128 levels deep"), "{message}");
    }
    let reference = json!({ "$ref": "#/anyOf/0", "anyOf": [deep(600)] });
    assert!(Schema::from_value(&reference).is_err());
    // Excessive depth of the data is also an error inside alternatives and
    // below `not`.
    for schema in [json!({ "not": { "items": { "type": "string" } } }), json!({ "anyOf": [true] })]
    {
        let errors = in_time(&schema, &nested(200));
        assert_eq!(lines(&errors), [": Value is nested more than 128 levels deep (depth)"]);
    }
}

#[test]
fn many_long_definitions_compile() {
    let definitions: Map<String, Value> = (0..2_000)
        .map(|n| {
            (
                format!("d{n}"),
                json!({ "items": { "$ref": format!("#/$defs/d{}", (n + 1) % 2_000) } }),
            )
        })
        .collect();
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    let schema = timed(|| Schema::from_value(&schema)).unwrap();
    assert!(schema.check(&nested(100), &ValidationOptions::new()).unwrap().is_empty());
}
