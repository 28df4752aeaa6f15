//! Helpers for tests: errors as lines.

use serde_json::{Value, json};
use stockade_validation::{Schema, Validated, ValidationOptions, validate_against_schema};

/// Returns errors as `field: message (rule)`.
pub(crate) fn lines(errors: &[stockade_errors::FieldError]) -> Vec<String> {
    errors
        .iter()
        .map(|error| format!("{}: {} ({})", error.field, error.message, error.rule))
        .collect()
}

#[track_caller]
pub(crate) fn validate(schema: &Schema, data: &Value, options: &ValidationOptions) -> Validated {
    let outcome = validate_against_schema(schema, data.clone(), options).unwrap();
    // Both paths agree.
    assert_eq!(schema.check(data, options).unwrap(), outcome.errors);
    outcome
}

/// Checks the errors of a schema for a whole value.
#[track_caller]
pub(crate) fn check(schema: &Value, data: &Value, expected: &[&str]) {
    let schema = Schema::from_value(schema).unwrap();
    let outcome = validate(&schema, data, &ValidationOptions::new());
    assert_eq!(lines(&outcome.errors), expected, "{data}");
}

/// Checks the errors of the field `v` with this rule, in both notations.
#[track_caller]
pub(crate) fn check_field(rule: &Value, value: &Value, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|error| format!("v: {error}")).collect();
    let notations = [
        Schema::fields(&json!({ "v": rule })),
        Schema::from_value(&json!({ "v": rule })),
        Schema::rule(&json!({ "type": "object", "properties": { "v": rule } })),
        Schema::from_value(&json!({ "type": "object", "properties": { "v": rule } })),
    ];
    for schema in notations {
        let outcome = validate(&schema.unwrap(), &json!({ "v": value }), &ValidationOptions::new());
        assert_eq!(lines(&outcome.errors), expected, "{rule} for {value}");
    }
}

/// Checks the resulting data.
#[track_caller]
pub(crate) fn check_data(
    schema: &Value,
    data: &Value,
    options: &ValidationOptions,
    expected: &Value,
) {
    let schema = Schema::from_value(schema).unwrap();
    let outcome = validate(&schema, data, options);
    assert_eq!(lines(&outcome.errors), Vec::<String>::new(), "{data}");
    // Compared as text, because the order of the keys matters.
    assert_eq!(outcome.data.to_string(), expected.to_string(), "{data}");
}

/// Checks the errors of a compiled schema.
#[track_caller]
pub(crate) fn check_with(schema: &Schema, data: &Value, expected: &[&str]) {
    let outcome = validate(schema, data, &ValidationOptions::new());
    assert_eq!(lines(&outcome.errors), expected, "{data}");
}

/// Checks the errors of a type's schema; serde must read valid data too.
#[cfg(feature = "derive")]
#[track_caller]
pub(crate) fn check_type<T>(data: &Value, expected: &[&str])
where
    T: stockade_validation::HasSchema + serde::de::DeserializeOwned,
{
    check_with(&T::schema().unwrap(), data, expected);
    let read = serde_json::from_value::<T>(data.clone());
    if expected.is_empty() {
        assert!(read.is_ok(), "{data}: {:?}", read.err());
    }
}
