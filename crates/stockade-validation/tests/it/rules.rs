//! The builder: the same schemas as from JSON, and the functions.

use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_validation::format::Format;
use stockade_validation::{
    Rule, Schema, ValidationOptions, Verdict, validate_against_schema, validate_field,
};

use crate::support::{lines, validate};

#[test]
fn builder_and_json_build_the_same_rule() {
    for (rule, json) in [
        (Rule::any(), json!({})),
        (Rule::never(), json!(false)),
        (
            Rule::string().min_length(1).max_length(2),
            json!({ "type": "string", "minLength": 1, "maxLength": 2 }),
        ),
        (
            Rule::kinds(["string", "null"]).pattern("x"),
            json!({ "type": ["string", "null"], "pattern": "x" }),
        ),
        (Rule::string().format(Format::Ipv4), json!({ "type": "string", "format": "ipv4" })),
        (
            Rule::number().minimum(1).maximum(2.5).exclusive_minimum(0).exclusive_maximum(3),
            json!({ "type": "number", "minimum": 1, "maximum": 2.5, "exclusiveMinimum": 0, "exclusiveMaximum": 3 }),
        ),
        (Rule::integer().min(1).max(2), json!({ "type": "integer", "min": 1, "max": 2 })),
        (Rule::boolean().constant(true), json!({ "type": "boolean", "const": true })),
        (
            Rule::any().values(["a", "b"]).nullable(),
            json!({ "enum": ["a", "b"], "nullable": true }),
        ),
        (
            Rule::array(Rule::uuid()).min_items(1).max_items(2).unique_items(),
            json!({ "type": "array", "items": { "type": "uuid" }, "minItems": 1, "maxItems": 2, "uniqueItems": true }),
        ),
        (
            Rule::object([("a", Rule::email().required())])
                .property("b", Rule::url())
                .required_fields(["b"])
                .additional_properties(false)
                .min_properties(1)
                .max_properties(2),
            json!({
                "type": "object", "properties": { "a": { "type": "email", "required": true }, "b": { "type": "url" } },
                "required": ["b"], "additionalProperties": false, "minProperties": 1, "maxProperties": 2,
            }),
        ),
        (
            Rule::map(Rule::date()),
            json!({ "type": "object", "additionalProperties": { "type": "date" } }),
        ),
        (
            Rule::phone().default("x").title("T").description("D"),
            json!({ "type": "phone", "default": "x", "title": "T", "description": "D" }),
        ),
        (
            Rule::credit_card().id("I").comment("C").deprecated().examples(["E"]),
            json!({ "type": "credit-card", "$id": "I", "$comment": "C", "deprecated": true, "examples": ["E"] }),
        ),
        (
            Rule::object([("a", Rule::any().read_only()), ("b", Rule::string().write_only())]),
            json!({ "a": { "readOnly": true }, "b": { "type": "string", "writeOnly": true } }),
        ),
        (
            Rule::from_value(&json!({ "a": { "min": 1 } })).property("b", Rule::any()),
            json!({ "a": { "min": 1 }, "b": {} }),
        ),
    ] {
        let built = rule.build().unwrap().to_json_schema();
        let read = Schema::from_value(&json).unwrap().to_json_schema();
        assert_eq!(built, read, "{json}");
    }
}

#[test]
fn messages_and_trim_are_the_same() {
    let schema = Rule::string().trim().max_length(1).message("No").build().unwrap();
    let outcome = validate(&schema, &json!(" ab "), &ValidationOptions::new());
    assert_eq!(
        (lines(&outcome.errors), outcome.data),
        (vec![": No (maxLength)".into()], json!("ab"))
    );
}

#[test]
fn custom_runs_last_and_skips_null_and_type_errors() {
    let rule = Rule::kinds(["string", "null"]).min_length(3).custom(|_, _, _| false);
    let schema = Rule::object([("v", rule)]).build().unwrap();
    for (data, expected) in [
        (
            json!({ "v": "ab" }),
            &["v: String must be at least 3 characters (minLength)", "v: v is invalid (custom)"][..],
        ),
        (json!({ "v": "abc" }), &["v: v is invalid (custom)"]),
        (json!({ "v": null }), &[]),
        (json!({}), &[]),
        (json!({ "v": 1 }), &["v: Expected string or null, got number (type)"]),
    ] {
        let outcome = validate(&schema, &data, &ValidationOptions::new());
        assert_eq!(lines(&outcome.errors), expected, "{data}");
    }
}

#[test]
fn custom_uses_its_own_message_or_the_message_of_the_rule() {
    let text = |rule: Rule| {
        let schema = Rule::object([("v", rule)]).build().unwrap();
        let outcome = validate(&schema, &json!({ "v": 1 }), &ValidationOptions::new());
        outcome.errors[0].message.clone()
    };
    assert_eq!(text(Rule::any().custom(|_, _, _| false)), "v is invalid");
    assert_eq!(text(Rule::any().message("No").custom(|_, _, _| Verdict::Invalid)), "No");
    let own = |_: &Value, field: &str, _: &Value| Err(format!("{field} is odd"));
    assert_eq!(text(Rule::any().custom(own)), "v is odd");
    assert_eq!(text(Rule::any().message("No").custom(own)), "v is odd");
    assert_eq!(text(Rule::any().custom(|_, _, _| Err("bad"))), "bad");
}

#[test]
fn custom_receives_the_changed_value_its_path_and_the_input() {
    let inner = Rule::object([("n", Rule::integer()), ("m", Rule::any().default(1))]);
    let inner =
        inner.custom(|value, field, root| Err::<(), _>(format!("{value} at {field} in {root}")));
    let schema = Rule::object([("list", Rule::array(inner))]).build().unwrap();
    let options = ValidationOptions::new().coerce_types(true);
    let outcome = validate(&schema, &json!({ "list": [{ "n": "1" }] }), &options);
    let expected = r#"{"n":1} at list[0] in {"list":[{"n":"1"}]}"#;
    assert_eq!(outcome.errors[0].message, expected);
    assert_eq!(outcome.data, json!({ "list": [{ "n": 1, "m": 1 }] }));
}

#[test]
fn transform_runs_after_trim_and_before_other_keywords() {
    let upper = |value: Value| match value {
        Value::String(text) => text.to_uppercase().into(),
        Value::Null => json!("WAS NULL"),
        other => other,
    };
    let schema =
        Rule::object([("v", Rule::string().trim().transform(upper).pattern("^[A-Z ]+$"))]).build();
    let schema = schema.unwrap();
    for (data, expected) in [
        (json!({ "v": " ab " }), json!({ "v": "AB" })),
        (json!({ "v": null }), json!({ "v": "WAS NULL" })),
        (json!({}), json!({})),
    ] {
        let outcome = validate(&schema, &data, &ValidationOptions::new());
        assert_eq!((outcome.valid(), outcome.data), (true, expected));
    }
}

#[test]
fn defaults_can_be_generated() {
    let schema =
        Rule::object([("v", Rule::string().default_with(|| json!("made")))]).build().unwrap();
    let outcome = validate(&schema, &json!({}), &ValidationOptions::new());
    assert_eq!(outcome.data, json!({ "v": "made" }));
}

#[test]
fn failing_and_panicking_functions_are_a_500() {
    #[track_caller]
    fn check(rule: Rule, data: &Value, expected: &str) {
        let schema = Rule::object([("v", rule)]).build().unwrap();
        let outcome = validate_against_schema(&schema, data.clone(), &ValidationOptions::new());
        let error = outcome.unwrap_err();
        assert_eq!((error.status(), error.message()), (500, expected));
    }
    let there = json!({ "v": 1 });
    check(
        Rule::any().transform(|_| Err::<Value, _>("no network")),
        &there,
        "`transform` of \"v\" failed: no network",
    );
    check(
        Rule::any().transform(|_| -> Value { panic!("oh") }),
        &there,
        "`transform` of \"v\" panicked: oh",
    );
    check(
        Rule::any().custom(|_, _, _| Err::<bool, _>(ApiError::not_found())),
        &there,
        "`custom` of \"v\" failed: Resource not found",
    );
    check(
        Rule::any().custom(|value, _, _| -> bool { panic!("oh {value}") }),
        &there,
        "`custom` of \"v\" panicked: oh 1",
    );
    check(Rule::any().default_with(|| panic!("oh")), &json!({}), "`default` of \"v\" panicked: oh");
}

#[test]
fn validates_a_single_field() {
    let options = ValidationOptions::new();
    let schema = Rule::object([("zip", Rule::string())]).required().build().unwrap();
    let outcome = validate_field(&schema, "address", Some(json!({ "zip": 1 })), &options).unwrap();
    assert_eq!(lines(&outcome.errors), ["address.zip: Expected string, got number (type)"]);
    let outcome = validate_field(&schema, "address", None, &options).unwrap();
    assert_eq!(lines(&outcome.errors), ["address: Required field 'address' is missing (required)"]);
    let schema = Rule::string().required().default("x").build().unwrap();
    let outcome = validate_field(&schema, "v", None, &options).unwrap();
    assert_eq!((outcome.valid(), outcome.data), (true, json!("x")));
}

#[test]
fn the_export_is_json_schema() {
    let schema = Schema::from_value(&json!({
        "email": { "type": "email", "required": true, "message": "No", "trim": true },
        "site": { "type": "url", "nullable": true },
        "age": { "type": "integer", "min": 1.5, "maximum": 9, "max": 7 },
        "role": { "enum": ["a"], "nullable": true },
        "one": { "const": 1, "nullable": true },
        "any": { "required": true },
        "either": { "type": ["uuid", "phone"] },
        "sized": { "type": ["string", "array"], "min": 2, "minItems": 1 },
        "had": { "required": true, "default": 1, "title": "Had" },
        "no": false,
    }))
    .unwrap();
    let expected = json!({
        "type": "object",
        "properties": {
            "email": { "type": "string", "format": "email", "minLength": 1 },
            "site": { "type": ["string", "null"], "format": "uri" },
            "age": { "type": "integer", "minimum": 1.5, "maximum": 7 },
            "role": { "enum": ["a", null] },
            "one": { "enum": [1, null] },
            "any": { "type": ["string", "number", "boolean", "object", "array"], "minLength": 1 },
            "either": { "type": "string", "anyOf": [{ "format": "uuid" }, { "format": "phone" }] },
            "sized": { "type": ["string", "array"], "minLength": 2, "minItems": 1 },
            "had": { "title": "Had", "default": 1 },
            "no": false,
        },
        "required": ["email", "any"],
    });
    assert_eq!(schema.to_json_schema(), expected);
}
