//! Tests for invalid schemas and their error messages.

use serde_json::{Value, json};

use super::keyword::needs_whole;
use crate::node::kind;
use crate::{Rule, Schema};

/// Checks the messages of all errors, in every way to read the schema.
#[track_caller]
fn check(schema: &Value, expected: &[&str]) {
    let error = Schema::from_value(schema).unwrap_err();
    let messages = error.issues().iter().map(|mistake| mistake.message());
    // Remove the pointer, which other tests cover.
    let messages: Vec<&str> =
        messages.map(|it| it.split_once(" (at `").map_or(it, |(message, _)| message)).collect();
    assert_eq!(messages, expected, "{schema}");
}

#[test]
fn reports_all_errors_with_their_field_and_location() {
    let schema = json!({
        "name": { "type": "strng", "minLenght": 3 },
        "address": { "zip": { "type": "string", "pattern": "(" , "required": "yes" } },
        "tags": { "type": "array", "items": { "min": 3, "max": 2 } },
    });
    let line = line!() + 1;
    let error = Schema::from_value(&schema).unwrap_err();
    let place = format!("({}:{line})", file!());
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "5 configuration errors:");
    assert!(lines[1..].iter().all(|line| line.ends_with(&place)), "{text}");
    for (line, expected) in lines[1..].iter().zip([
        "field `name`: unknown keyword `minLenght`, did you mean `minLength`?",
        "field `name`: unknown type `strng`, did you mean `string`?",
        "field `address.zip`: `required` must be a boolean or a list of names",
        "field `address.zip`: invalid pattern \"(\": ",
        "field `tags[]`: `min` 3 is above `max` 2",
    ]) {
        assert!(line.trim_start().starts_with(expected), "{line} is not {expected}");
    }
}

#[test]
fn values_of_the_wrong_kind() {
    for (keyword, value, wanted) in [
        ("type", json!(1), "the name of a type or a list of names"),
        ("required", json!(1), "a boolean or a list of names"),
        ("required", json!([1]), "a boolean or a list of names"),
        ("items", json!([{}]), "a schema: an object or a boolean"),
        ("properties", json!([]), "an object of schemas"),
        ("additionalProperties", json!("no"), "a schema: an object or a boolean"),
        ("nullable", json!("yes"), "a boolean"),
        ("custom", json!("even"), "a function: set it with `Rule`"),
        ("message", json!(1), "a string"),
        ("trim", json!("yes"), "a boolean"),
        ("transform", json!("upper"), "a function: set it with `Rule`"),
        ("title", json!(1), "a string"),
        ("deprecated", json!("yes"), "a boolean"),
        ("readOnly", json!(1), "a boolean"),
        ("writeOnly", json!("yes"), "a boolean"),
    ] {
        let expected = format!("field `v`: `{keyword}` must be {wanted}");
        check(&json!({ "v": { "nullable": true, keyword: value } }), &[&expected]);
    }
}

#[test]
fn explains_a_single_keyword_with_a_value_of_the_wrong_kind() {
    check(&json!({ "v": { "min": "1" } }), &["field `v`: `min` must be a number"]);
    check(
        &json!({ "v": { "tpye": "string" } }),
        &["field `v`: unknown keyword `tpye`, did you mean `type`?"],
    );
    check(
        &json!({ "v": "string" }),
        &["unknown keyword `v`; the rule of a field must be an object"],
    );
    check(
        &json!({ "a": "string", "b": { "type": "string" } }),
        &["unknown keyword `a`; the rule of a field must be an object"],
    );
    let fields = Schema::fields(&json!({ "a": "string" })).unwrap_err().to_string();
    assert!(fields.contains("the rule of a field must be an object"), "{fields}");
    check(&json!("string"), &["a schema must be an object or a boolean"]);
    check(
        &json!({ "patternProperties": { "a": {} }, "name": {} }),
        &["JSON Schema keyword `patternProperties` cannot be mixed with fields"],
    );
}

#[test]
fn unknown_names() {
    check(&json!({ "type": "int" }), &["unknown type `int`, did you mean `integer`?"]);
    check(
        &json!({ "type": ["string", "emial"] }),
        &["unknown type `emial`, did you mean `email`?"],
    );
    check(&json!({ "type": [] }), &["`type` must name a type"]);
    check(
        &json!({ "format": "datetime" }),
        &["unknown format `datetime`, did you mean `date-time`?"],
    );
    check(&json!({ "format": "fax" }), &["unknown format `fax`"]);
}

#[test]
fn contradictions() {
    for (low, high, strict) in [
        ("minLength", "maxLength", false),
        ("minimum", "maximum", false),
        ("exclusiveMinimum", "exclusiveMaximum", true),
        ("minimum", "exclusiveMaximum", true),
        ("exclusiveMinimum", "maximum", true),
        ("min", "max", false),
        ("minItems", "maxItems", false),
        ("minProperties", "maxProperties", false),
    ] {
        let relation = if strict { "is not below" } else { "is above" };
        check(&json!({ low: 3, high: 2 }), &[&format!("`{low}` 3 {relation} `{high}` 2")]);
        assert_eq!(Schema::from_value(&json!({ low: 2, high: 2 })).is_err(), strict, "{low}");
        assert!(Schema::from_value(&json!({ low: 1, high: 2 })).is_ok());
    }
    check(&json!({ "type": "integer", "min": 3, "maximum": 2 }), &["`min` 3 is above `maximum` 2"]);
    check(
        &json!({ "type": "string", "minLength": 3, "max": 2 }),
        &["`minLength` 3 is above `max` 2"],
    );
    assert!(Schema::from_value(&json!({ "min": 3, "maximum": 2 })).is_ok());
}

#[test]
fn duplicate_names() {
    check(&json!({ "required": ["a", "b", "a"] }), &["duplicate name `a` in `required`"]);
    let error = Rule::object([("a", Rule::any()), ("a", Rule::any())]).build().unwrap_err();
    assert_eq!(error.issues()[0].message(), "duplicate property `a`");
}

#[test]
fn each_rule_records_its_line() {
    let name = Rule::string().pattern("[");
    let line = line!() - 1;
    let error = Rule::object([("name", name)]).build().unwrap_err();
    let mistake = &error.issues()[0];
    assert_eq!(mistake.location().map(|place| place.line()), Some(line));
    assert!(mistake.message().starts_with("field `name`: invalid pattern"));
    let error = Rule::number().minimum(f64::NAN).build().unwrap_err();
    assert_eq!(error.issues()[0].message(), "`minimum` must be a number");
}

#[test]
fn distinguishes_notations() {
    let type_of =
        |schema: Value| {
            Schema::from_value(&schema).unwrap().to_json_schema().get("properties").map(|fields| {
                fields.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
            })
        };
    for (schema, fields) in [
        (json!({}), None),
        (json!({ "title": "T" }), None),
        (json!({ "type": "string" }), None),
        (json!({ "min": 1 }), None),
        (json!({ "items": { "type": "string" } }), None),
        (json!({ "additionalProperties": { "type": "string" } }), None),
        (json!({ "items": {}, "default": {} }), None),
        (json!({ "const": { "a": 1 } }), None),
        (json!({ "properties": { "a": {} } }), Some("a")),
        (json!({ "properties": { "a": {} }, "required": ["a"] }), Some("a")),
        (json!({ "a": {} }), Some("a")),
        (json!({ "a": true }), Some("a")),
        (json!({ "title": "T", "a": {} }), Some("a")),
        (json!({ "type": { "type": "string" } }), Some("type")),
        (json!({ "items": {}, "name": {} }), Some("items name")),
        (json!({ "properties": {}, "name": {} }), Some("properties name")),
        (json!({ "required": {}, "min": {} }), Some("required min")),
    ] {
        assert_eq!(type_of(schema.clone()).as_deref(), fields, "{schema}");
    }
    // Here the notation is explicit.
    let odd = json!({ "colour": { "type": "string" } });
    assert!(Schema::fields(&odd).is_ok());
    assert!(Schema::rule(&odd).is_err());
    assert!(Schema::rule(&json!({ "properties": { "a": odd } })).is_err());
    let not = json!({ "not": { "type": "string" } });
    assert_eq!(type_of(json!({ "a": not })).as_deref(), Some("a"));
    assert_eq!(type_of(not.clone()), None);
    assert_eq!(
        Schema::fields(&not).unwrap().to_json_schema()["properties"]["not"]["type"],
        "string"
    );
    assert!(Schema::from_value(&json!({ "$schema": "x", "a": {} })).is_err());
}

#[test]
fn rejects_literals_that_no_value_can_equal() {
    check(
        &json!({ "type": "integer", "enum": ["x", 1.5] }),
        &["no value of `enum` has the type integer"],
    );
    check(&json!({ "type": "string", "const": 1 }), &["`const` does not have the type string"]);
    for fine in [
        json!({ "type": "integer", "enum": ["x", 1.0] }),
        json!({ "type": "email", "enum": ["a@b.example"] }),
        json!({ "type": "string", "nullable": true, "const": null }),
        json!({ "const": [1] }),
    ] {
        assert!(Schema::from_value(&fine).is_ok(), "{fine}");
    }
}

#[test]
fn unique_items_need_the_whole_array() {
    for (rule, expected) in [
        (json!({ "uniqueItems": true }), true),
        (json!({ "uniqueItems": false }), false),
        (json!({ "min": 1, "max": 3, "minItems": 2, "maxItems": 3 }), false),
        (json!({ "minProperties": 1, "maxProperties": 2, "pattern": "a", "minimum": 1 }), false),
    ] {
        let keywords = rule.as_object().unwrap();
        assert_eq!(needs_whole(keywords, kind::ARRAY), expected, "{rule}");
        assert!(!needs_whole(keywords, kind::OBJECT), "{rule}");
    }
}
