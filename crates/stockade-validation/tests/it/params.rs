//! The parameters and message ids of broken rules.

use serde_json::{Value, json};
use stockade_errors::{ErrorText, FieldError, ParamValue};
use stockade_validation::{
    Rule, Schema, ValidationOptions, Verdict, schema, validate_against_schema,
};

fn errors(schema: &Schema, data: &Value) -> Vec<FieldError> {
    validate_against_schema(schema, data.clone(), &ValidationOptions::new()).unwrap().errors
}

/// Shows the first error as `id name=value …`.
#[track_caller]
fn check(schema: &Schema, data: &Value, expected: &str) {
    let errors = errors(schema, data);
    let error = errors.first().expect("a rule fails");
    let params = error.params().iter().map(|(name, value)| format!(" {name}={value}"));
    let shown = error.text_id().unwrap_or("-").to_owned() + &params.collect::<String>();
    assert_eq!(shown, expected, "{data} {error:?}");
}

#[test]
fn each_rule_has_an_id_and_its_parameters() {
    for (rule, value, expected) in [
        (json!({ "type": "string", "minLength": 3 }), json!("ab"), "minLength limit=3"),
        (json!({ "type": "string", "max": 1 }), json!("ab"), "maxLength limit=1"),
        (json!({ "type": "number", "min": 3 }), json!(1), "minimum limit=3"),
        (json!({ "type": "number", "maximum": 2.5 }), json!(3), "maximum limit=2.5"),
        (
            json!({ "type": "number", "exclusiveMinimum": -1 }),
            json!(-1),
            "exclusiveMinimum limit=-1",
        ),
        (json!({ "type": "number", "exclusiveMaximum": 7 }), json!(7), "exclusiveMaximum limit=7"),
        (json!({ "type": "array", "min": 2 }), json!([1]), "minItems limit=2"),
        (json!({ "type": "array", "maxItems": 0 }), json!([1]), "maxItems limit=0"),
        (json!({ "type": "array", "uniqueItems": true }), json!([1, 1]), "uniqueItems"),
        (json!({ "type": "integer" }), json!("x"), "type expected=integer got=string"),
        (
            json!({ "type": ["string", "null"] }),
            json!(7),
            "type expected=string or null got=number",
        ),
        (json!({ "enum": ["a", 7] }), json!("b"), "enum values=\"a\", 7"),
        (json!({ "const": "a" }), json!("b"), "const value=\"a\""),
        (json!({ "type": "string", "pattern": "^a$" }), json!("b"), "pattern"),
        (json!({ "type": "string", "format": "date-time" }), json!("b"), "format format=date-time"),
        (json!({ "type": "email" }), json!("b"), "email"),
        (json!({ "type": "string", "required": true }), json!(""), "required"),
    ] {
        let schema = Schema::fields(&json!({ "a": rule })).unwrap();
        check(&schema, &json!({ "a": value }), expected);
    }
    let closed = schema!({ "type": "object", "properties": {}, "additionalProperties": false });
    let closed = closed.unwrap();
    check(&closed, &json!({ "b": 1 }), "additionalProperties");
    let sized = schema!({ "type": "object", "properties": {}, "minProperties": 1 });
    let sized = sized.unwrap();
    check(&sized, &json!({}), "minProperties limit=1");
}

#[test]
fn a_custom_message_has_parameters_and_no_id() {
    let fields = json!({ "a": { "type": "string", "maxLength": 1, "message": "no" } });
    let schema = Schema::fields(&fields);
    check(&schema.unwrap(), &json!({ "a": "bc" }), "- limit=1");
}

#[test]
fn custom_checks_set_ids_and_parameters() {
    let custom =
        |verdict: fn() -> Verdict| Rule::string().custom(move |_, _, _| verdict()).build().unwrap();
    let text = || Verdict::Text(ErrorText::new("step", "Must be a multiple of 2").param("step", 2));
    check(&custom(text), &json!("a"), "step step=2");
    let errors = errors(&custom(text), &json!("a"));
    assert_eq!(errors, [FieldError::new("", "Must be a multiple of 2", "custom")]);
    assert_eq!(errors[0].param("step"), Some(&ParamValue::from(2)));
    check(&custom(|| Verdict::Invalid), &json!("a"), "custom");
    check(&custom(|| Verdict::Because("no".into())), &json!("a"), "-");
}

#[test]
fn errors_of_types_have_parameters() {
    #[derive(Debug, serde::Deserialize)]
    struct Row {
        #[expect(dead_code, reason = "only its type matters")]
        count: u8,
    }
    let read = |text: &str| {
        let read = Rule::any()
            .build()
            .unwrap()
            .read_json::<Row>(text.as_bytes(), &ValidationOptions::new());
        match read.unwrap_err() {
            stockade_validation::ReadError::Invalid(errors) => {
                let error = &errors[0];
                let params = error.params().iter().map(|(name, value)| format!(" {name}={value}"));
                error.text_id().unwrap_or("-").to_owned() + &params.collect::<String>()
            }
            other => other.to_string(),
        }
    };
    assert_eq!(read(r#"{"count":"x"}"#), "type expected=integer got=string");
    assert_eq!(read(r#"{"count":999}"#), "out-of-range kind=integer");
    assert_eq!(read("{}"), "required");
    assert_eq!(read(r#"{"count":1,"count":1}"#), "duplicate");
}

#[test]
fn unions_have_ids_and_parameters() {
    let keys = |name: &str| Rule::object([(name, Rule::any().required())]);
    let union = Rule::first_of([keys("a"), keys("b")]).build().unwrap();
    check(&union, &json!(7), "type expected=object got=number");
    check(&union, &json!({}), "required");
}

#[test]
fn keywords_of_json_schema_have_ids_and_parameters() {
    let two = json!([{ "minimum": 3 }, { "minimum": 5 }]);
    for (rule, value, expected) in [
        (json!({ "type": "number", "multipleOf": 0.5 }), json!(1.2), "multipleOf factor=0.5"),
        (json!({ "type": "integer", "format": "int32" }), json!(1i64 << 40), "format format=int32"),
        (json!({ "not": { "type": "string" } }), json!("a"), "not"),
        (json!({ "oneOf": two }), json!(7), "oneOf-several"),
        (json!({ "oneOf": two, "message": "no" }), json!(1), "-"),
        // The error of the closest alternative.
        (json!({ "anyOf": two }), json!(1), "minimum limit=3"),
        (json!({ "contains": { "const": 7 } }), json!([1]), "minContains limit=1"),
        (json!({ "contains": {}, "minContains": 2 }), json!([1]), "minContains limit=2"),
        (json!({ "contains": {}, "maxContains": 1 }), json!([1, 2]), "maxContains limit=1"),
        (
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1 }),
            "dependentRequired other=a",
        ),
        (json!({ "propertyNames": { "maxLength": 1 } }), json!({ "ab": 1 }), "propertyNames"),
        (json!({ "unevaluatedItems": false }), json!([1]), "unevaluatedItems"),
        (json!({ "unevaluatedProperties": false }), json!({ "a": 1 }), "unevaluatedProperties"),
    ] {
        let schema = Schema::rule(&rule).unwrap();
        check(&schema, &value, expected);
    }
}
