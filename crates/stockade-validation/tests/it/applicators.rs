//! Alternatives, conditions, `$ref`, and rules for some parts of a value.

use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_validation::{HasSchema, Rule, Schema, ValidationOptions, Verdict};

use crate::support::{check, check_data, check_with, lines, validate};

/// Returns the messages of the configuration errors in a schema.
fn mistakes(schema: &Value) -> Vec<String> {
    let error = Schema::from_value(schema).unwrap_err();
    error.issues().iter().map(|issue| issue.message().to_owned()).collect()
}

fn payment() -> Value {
    json!({
        "type": "object",
        "properties": { "amount": { "type": "integer", "required": true } },
        "oneOf": [
            {
                "properties": {
                    "kind": { "const": "card" },
                    "token": { "type": "string", "minLength": 4 },
                },
                "required": ["kind", "token"],
            },
            {
                "properties": {
                    "kind": { "const": "invoice" },
                    "vat": { "type": "string" },
                    "days": { "type": "integer", "maximum": 30 },
                },
                "required": ["kind", "vat"],
            },
        ],
        "unevaluatedProperties": false,
    })
}

#[test]
fn the_closest_alternative_is_reported() {
    check(&payment(), &json!({ "amount": 1, "kind": "card", "token": "abcd" }), &[]);
    check(&payment(), &json!({ "amount": 1, "kind": "invoice", "vat": "DE1", "days": 7 }), &[]);
    // The constant decides, although the other alternative has fewer errors.
    check(
        &payment(),
        &json!({ "amount": 1, "kind": "invoice", "token": "abcd", "days": 90 }),
        &["vat: Required field 'vat' is missing (required)"],
    );
    check(
        &payment(),
        &json!({ "amount": 1, "kind": "card", "token": "ab" }),
        &["token: String must be at least 4 characters (minLength)"],
    );
    // If no constant is equal, the alternative with the fewest errors is
    // reported. The order decides a tie.
    check(
        &payment(),
        &json!({ "amount": 1, "kind": "cash", "vat": "DE1" }),
        &["kind: Must be \"invoice\" (const)"],
    );
    check(
        &payment(),
        &json!({ "amount": 1 }),
        &["kind: Required field 'kind' is missing (required)"],
    );
    check(
        &payment(),
        &json!({ "amount": 1, "kind": "card", "token": "abcd", "tip": 1 }),
        &["tip: Unknown field 'tip' (unevaluatedProperties)"],
    );
}

#[test]
fn the_type_of_the_value_is_compared_first() {
    let schema = json!({ "anyOf": [
        { "type": "array", "items": { "type": "string" } },
        { "type": "string", "minLength": 3, "pattern": "^a", "format": "uuid" },
        { "type": "integer" },
    ] });
    check(&schema, &json!("b"), &[": String must be at least 3 characters (minLength)"]);
    check(&schema, &json!(["a", 1]), &["[1]: Expected string, got number (type)"]);
    check(&schema, &json!(true), &[": Expected array or string or integer, got boolean (type)"]);
    check(&schema, &json!(1.5), &[": Expected integer, got number (type)"]);
}

#[test]
fn a_message_replaces_the_closest_error() {
    let schema =
        json!({ "anyOf": [{ "min": 3 }, { "max": 1 }], "message": "not 2", "type": "number" });
    check(&schema, &json!(2), &[": not 2 (anyOf)"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_keyword_has_its_message() {
    for (rule, data, expected) in [
        (
            json!({ "oneOf": [{ "min": 1 }, { "max": 3 }] }),
            json!(2),
            ": Value matches more than one of the alternatives (oneOf)",
        ),
        (json!({ "not": { "type": "string" } }), json!("a"), ": Value is not allowed (not)"),
        (
            json!({ "multipleOf": 0.01 }),
            json!(1.005),
            ": Number must be a multiple of 0.01 (multipleOf)",
        ),
        (
            json!({ "contains": { "type": "string" } }),
            json!([1]),
            ": Array must contain at least 1 items that match `contains` (contains)",
        ),
        (
            json!({ "contains": { "type": "string" }, "minContains": 2, "maxContains": 2 }),
            json!(["a"]),
            ": Array must contain at least 2 items that match `contains` (minContains)",
        ),
        (
            json!({ "contains": { "type": "string" }, "maxContains": 1 }),
            json!(["a", "b"]),
            ": Array must contain at most 1 items that match `contains` (maxContains)",
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": false }),
            json!(["a", 1]),
            "[1]: Value is not allowed (false)",
        ),
        (
            json!({ "prefixItems": [true], "unevaluatedItems": false }),
            json!(["a", 1]),
            "[1]: Item is not allowed (unevaluatedItems)",
        ),
        (
            json!({ "patternProperties": { "^x-": { "type": "integer" } } }),
            json!({ "x-a": "1", "y": "1" }),
            "x-a: Expected integer, got string (type)",
        ),
        (
            json!({ "propertyNames": { "maxLength": 2 } }),
            json!({ "abc": 1 }),
            "abc: Invalid field name (propertyNames)",
        ),
        (
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1 }),
            "b: Field 'b' is required if 'a' is present (dependentRequired)",
        ),
        (
            json!({ "dependentSchemas": { "a": { "maxProperties": 1 } } }),
            json!({ "a": 1, "b": 1 }),
            ": Object must have at most 1 properties (maxProperties)",
        ),
        (
            json!({ "if": { "min": 10 }, "then": { "multipleOf": 5 }, "else": { "max": 3 } }),
            json!(12),
            ": Number must be a multiple of 5 (multipleOf)",
        ),
        (
            json!({ "if": { "min": 10 }, "then": { "multipleOf": 5 }, "else": { "max": 3 } }),
            json!(5),
            ": Number must be at most 3 (max)",
        ),
    ] {
        check(&rule, &data, &[expected]);
    }
    check(
        &json!({ "allOf": [{ "min": 3 }, { "multipleOf": 2 }] }),
        &json!(1),
        &[": Number must be at least 3 (min)", ": Number must be a multiple of 2 (multipleOf)"],
    );
}

#[test]
fn numbers_have_formats() {
    for (format, valid, invalid) in [
        (
            "int32",
            json!([0, -2_147_483_648_i64, 2_147_483_647, 1.0, "text"]),
            json!([2_147_483_648_i64, 1.5]),
        ),
        ("int64", json!([i64::MIN, i64::MAX]), json!([u64::MAX, 1e19, 0.5])),
        ("float", json!([1.5, 3.4e38]), json!([3.5e38, -1e39])),
        ("double", json!([1e308, 7]), json!([])),
    ] {
        let schema = Schema::rule(&json!({ "format": format })).unwrap();
        let errors = |data| schema.check(data, &ValidationOptions::new()).unwrap();
        for data in valid.as_array().unwrap() {
            assert_eq!(errors(data), [], "{format} {data}");
        }
        for data in invalid.as_array().unwrap() {
            assert_eq!(errors(data)[0].rule, "format", "{format} {data}");
        }
    }
}

#[test]
fn references_point_into_the_document() {
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": { "$ref": "#/$defs/name", "maxLength": 5 },
                    "children": { "type": "array", "items": { "$ref": "#/$defs/node" } },
                },
                "required": ["name"],
            },
            "name": { "type": "string", "minLength": 2, "trim": true },
        },
    });
    check_data(
        &tree,
        &json!({ "name": " ab ", "children": [{ "name": "cd " }] }),
        &ValidationOptions::new(),
        &json!({ "name": "ab", "children": [{ "name": "cd" }] }),
    );
    check(
        &tree,
        &json!({ "name": "ab", "children": [{ "name": "x", "children": [{}] }] }),
        &[
            "children[0].name: String must be at least 2 characters (minLength)",
            "children[0].children[0].name: Required field 'name' is missing (required)",
        ],
    );
    // A reference can also point to a field of a field map.
    let map = json!({ "a": { "type": "integer" }, "b": { "$ref": "#/a" } });
    check(&map, &json!({ "a": 1, "b": "x" }), &["b: Expected integer, got string (type)"]);
    let document = Schema::from_value(&tree).unwrap().to_json_schema();
    assert_eq!(
        document["$defs"]["node"]["properties"]["children"]["items"]["$ref"],
        "#/$defs/node"
    );
}

#[test]
fn invalid_references_are_configuration_errors() {
    let reference = |to: &str| json!({ "properties": { "a": { "$ref": to } } });
    for (to, message) in [
        ("#/$defs/x", "does not exist"),
        ("#x", "refers to an unknown `$anchor`"),
        ("other.json", "is outside the document: copy it to `$defs`"),
        ("https://example.com/a#/b", "is outside the document: copy it to `$defs`"),
        ("#%zz", "is not a URI reference"),
        ("#/properties/a/$ref", "refers to a value that is not a schema"),
    ] {
        let expected = format!("field `a`: `$ref` {to:?} {message} (at `/properties/a/$ref`)");
        assert_eq!(mistakes(&reference(to)), [expected]);
    }
    let itself = "the definition refers only to itself";
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "properties": { "v": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
        json!({ "items": { "$ref": "#/$defs/a" }, "$defs": { "a": { "anyOf": [true, { "if": { "$ref": "#/$defs/a" } }] } } }),
        json!({ "items": { "$ref": "#/$defs/a" }, "$defs": { "a": { "dependentSchemas": { "x": { "$ref": "#/$defs/a" } } } } }),
    ] {
        assert!(mistakes(&schema).iter().any(|it| it.ends_with(itself)), "{schema}");
    }
    // The recursion is finite if it steps into the value.
    for schema in [
        json!({ "properties": { "a": { "$ref": "#" } } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "type": "null" }, { "items": { "$ref": "#/$defs/a" } }] } } }),
    ] {
        assert!(Schema::from_value(&schema).is_ok(), "{schema}");
    }
}

#[test]
fn unknown_keywords_are_errors_with_pointers() {
    for (schema, pointer) in [
        (json!({ "type": "object", "colour": 1 }), "/colour"),
        (json!({ "anyOf": [{ "type": "string" }, { "min": 1, "colour": 1 }] }), "/anyOf/1/colour"),
        (json!({ "not": { "min": 1, "colour": 1 } }), "/not/colour"),
        (json!({ "a/b": { "items": { "min": 1, "colour": [] } } }), "/a~1b/items/colour"),
        (
            json!({ "type": "string", "$defs": { "unused": { "min": 1, "colour": 1 } } }),
            "/$defs/unused/colour",
        ),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "min": 1, "colour": 1 } } }),
            "/$defs/a/colour",
        ),
        (json!({ "min": 1, "$dynamicRef": "#a" }), "/$dynamicRef"),
        (
            json!({ "dependentSchemas": { "a": { "min": 1, "colour": 1 } }, "type": "object" }),
            "/dependentSchemas/a/colour",
        ),
    ] {
        let mistakes = mistakes(&schema);
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].ends_with(&format!("(at `{pointer}`)")), "{mistakes:?}");
    }
}

#[test]
fn keywords_among_fields_are_configuration_errors() {
    for name in ["not", "if", "then", "$ref", "$defs", "contains", "propertyNames", "anyOf"] {
        let schema = json!({ "name": { "type": "string" }, name: { "a": {} } });
        let mistakes = mistakes(&schema);
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].contains("`Schema::fields`"), "{mistakes:?}");
        assert!(Schema::fields(&schema).is_ok(), "{name}");
    }
    // Keywords that appear without others are rules. It is an error if they
    // would check nothing.
    check(&json!({ "not": { "type": "string" } }), &json!("a"), &[": Value is not allowed (not)"]);
    for name in ["then", "else", "$defs", "definitions"] {
        assert!(mistakes(&json!({ name: { "a": {} } }))[0].contains("`Schema::fields`"), "{name}");
    }
}

#[test]
fn keyword_values_of_the_wrong_kind_are_errors() {
    for (keyword, value, wanted) in [
        ("anyOf", json!([]), "a list of one or more schemas"),
        ("oneOf", json!([1]), "a list of one or more schemas"),
        ("allOf", json!({}), "a list of one or more schemas"),
        ("prefixItems", json!([]), "a list of one or more schemas"),
        ("not", json!([]), "a schema: an object or a boolean"),
        ("contains", json!(1), "a schema: an object or a boolean"),
        ("dependentRequired", json!({ "a": "b" }), "an object of lists of names"),
        ("patternProperties", json!([]), "an object of schemas"),
        ("minContains", json!(-1), "a non-negative integer"),
        ("multipleOf", json!(0), "a number above 0"),
        ("multipleOf", json!(-0.5), "a number above 0"),
    ] {
        let mistakes = mistakes(&json!({ "nullable": true, keyword: value }));
        assert_eq!(mistakes, [format!("`{keyword}` must be {wanted} (at `/{keyword}`)")]);
    }
    for keyword in ["patternProperties", "dependentSchemas"] {
        let mistakes = mistakes(&json!({ keyword: { "a": 1 }, "nullable": true }));
        let message = format!("a schema must be an object or a boolean (at `/{keyword}/a`)");
        assert!(mistakes.len() == 1 && mistakes[0].ends_with(&message), "{mistakes:?}");
    }
    let mistakes = mistakes(&json!({ "patternProperties": { "(": {} }, "min": 1 }));
    assert!(mistakes[0].starts_with("invalid pattern \"(\""), "{mistakes:?}");
    assert!(Rule::any().any_of([]).build().is_err() && Rule::any().one_of([]).build().is_err());
}

/// The outer rule changes the value before the alternatives see it. The
/// alternatives never change the value.
#[test]
fn alternatives_see_the_changed_value() {
    let options = ValidationOptions::new().coerce_types(true);
    let schema = json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer" },
            "text": { "type": "string", "trim": true },
            "role": { "type": "string", "default": "reader" },
        },
        "allOf": [{
            "properties": {
                "n": { "type": "integer", "multipleOf": 2 },
                "text": { "maxLength": 2 },
                "added": { "default": 1 },
            },
        }],
    });
    check_data(
        &schema,
        &json!({ "n": "4", "text": " ab " }),
        &options,
        &json!({ "n": 4, "text": "ab", "role": "reader" }),
    );
    let compiled = Schema::from_value(&schema).unwrap();
    let outcome = validate(&compiled, &json!({ "n": "3", "text": "abc" }), &options);
    assert_eq!(
        lines(&outcome.errors),
        [
            "n: Number must be a multiple of 2 (multipleOf)",
            "text: String must be at most 2 characters (maxLength)",
        ]
    );
    // Alternatives do not convert text.
    let inner = json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] });
    let inner = Schema::from_value(&inner).unwrap();
    assert!(!inner.check(&json!("4"), &options).unwrap().is_empty());
    let outer = json!({ "type": ["integer", "null"], "anyOf": [{ "min": 3 }, { "type": "null" }] });
    check_data(&outer, &json!("4"), &options, &json!(4));
}

#[test]
fn keys_that_no_alternative_lists_are_unknown() {
    let data = json!({ "amount": 1, "kind": "card", "token": "abcd", "tip": 1 });
    let mut schema = payment();
    schema.as_object_mut().unwrap().remove("unevaluatedProperties");
    check(&schema, &data, &[]);
    check_data(
        &schema,
        &data,
        &ValidationOptions::new().strip_unknown(true),
        &json!({ "amount": 1, "kind": "card", "token": "abcd" }),
    );
    let compiled = Schema::from_value(&schema).unwrap();
    let strict = ValidationOptions::new().allow_unknown(false);
    let outcome = validate(&compiled, &data, &strict);
    assert_eq!(lines(&outcome.errors), ["tip: Unknown field 'tip' (additionalProperties)"]);
    // Keys that match a pattern count as listed.
    let patterns = json!({ "properties": { "a": {} }, "patternProperties": { "^x": {} } });
    check_data(
        &patterns,
        &json!({ "y": 1, "x1": 2, "a": 3 }),
        &ValidationOptions::new().strip_unknown(true),
        &json!({ "a": 3, "x1": 2 }),
    );
}

#[test]
fn each_pattern_that_matches_is_checked() {
    let schema = json!({
        "type": "object",
        "properties": { "ab": { "minimum": 1 } },
        "patternProperties": { "^a": { "type": "integer" }, "b$": { "maximum": 9 } },
        "additionalProperties": false,
    });
    check(&schema, &json!({ "ab": 5, "a": 1, "b": 2 }), &[]);
    check(
        &schema,
        &json!({ "ab": 10, "axb": 10.5, "c": 1 }),
        &[
            "axb: Expected integer, got number (type)",
            "c: Unknown field 'c' (additionalProperties)",
            "ab: Number must be at most 9 (maximum)",
            "axb: Number must be at most 9 (maximum)",
        ],
    );
    check_data(
        &schema,
        &json!({ "a": "7" }),
        &ValidationOptions::new().coerce_types(true),
        &json!({ "a": 7 }),
    );
}

#[test]
fn null_skips_all_checks_if_it_is_allowed() {
    let schema = json!({ "type": "string", "nullable": true, "not": { "type": "null" } });
    check(&schema, &json!(null), &[]);
    let exported = Schema::from_value(&schema).unwrap().to_json_schema();
    check_with(&Schema::rule(&exported).unwrap(), &json!(null), &[]);
    check_with(&Schema::rule(&exported).unwrap(), &json!("a"), &[]);
}

#[test]
fn calls_functions_inside_of_alternatives() {
    let is_even = |value: &Value, _: &str, _: &Value| value.as_i64().is_some_and(|it| it % 2 == 0);
    let schema =
        Rule::any().any_of([Rule::integer().custom(is_even), Rule::string()]).build().unwrap();
    let errors = |data: Value| lines(&validate(&schema, &data, &ValidationOptions::new()).errors);
    assert!(errors(json!(2)).is_empty() && errors(json!("a")).is_empty());
    assert_eq!(errors(json!(3)).len(), 1);
    let fails = |_: &Value, _: &str, _: &Value| -> Result<Verdict, ApiError> {
        Err(ApiError::new(500, "down"))
    };
    let schema = Rule::any().not(Rule::integer().custom(fails)).build();
    assert!(schema.unwrap().check(&json!(1), &ValidationOptions::new()).is_err());
}

#[test]
fn methods_and_json_build_the_same_schema() {
    for (built, schema) in [
        (Rule::any().all_of([Rule::any().min(1)]), json!({ "allOf": [{ "min": 1 }] })),
        (Rule::any().not(Rule::string()), json!({ "not": { "type": "string" } })),
        (
            Rule::any().if_then_else(Rule::string(), Rule::any().max(3), Rule::integer()),
            json!({ "if": { "type": "string" }, "then": { "max": 3 }, "else": { "type": "integer" } }),
        ),
        (
            Rule::any().not(Rule::string()).not(Rule::integer()),
            json!({ "not": { "type": "string" }, "allOf": [{ "not": { "type": "integer" } }] }),
        ),
        (
            Rule::any().dependent_schemas([("a", Rule::any().max_properties(1))]),
            json!({ "dependentSchemas": { "a": { "maxProperties": 1 } }, "nullable": false }),
        ),
        (
            Rule::any().dependent_required([("a", ["b", "c"])]),
            json!({ "dependentRequired": { "a": ["b", "c"] } }),
        ),
        (
            Rule::any().prefix_items([Rule::string(), Rule::integer()]).items(Rule::never()),
            json!({ "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
        ),
        (
            Rule::any().contains(Rule::string()).min_contains(2).max_contains(3),
            json!({ "contains": { "type": "string" }, "minContains": 2, "maxContains": 3 }),
        ),
        (Rule::any().keys(Rule::any().max(3)), json!({ "propertyNames": { "max": 3 } })),
        (
            Rule::any().unevaluated_items(false).unevaluated_properties(Rule::string()),
            json!({ "unevaluatedItems": false, "unevaluatedProperties": { "type": "string" } }),
        ),
    ] {
        let (built, read) = (built.build().unwrap(), Schema::from_value(&schema).unwrap());
        assert_eq!(built.to_json_schema(), read.to_json_schema());
    }
}

#[test]
fn documents_show_the_keywords() {
    let schema = Schema::from_value(&payment()).unwrap();
    let document = schema.to_json_schema();
    assert_eq!(document["oneOf"][0]["required"], json!(["kind", "token"]));
    assert_eq!(document["unevaluatedProperties"], false);
    // A text type with several forms already has an `anyOf`.
    let dates = json!({ "type": "date", "anyOf": [{ "min": 3 }, { "max": 1 }] });
    let document = Schema::from_value(&dates).unwrap().to_json_schema();
    assert!(document["anyOf"].is_array() && document["allOf"][0]["anyOf"].is_array(), "{document}");
    // Closed objects list the keys of all alternatives.
    let open = json!({ "type": "object", "anyOf": [{ "properties": { "a": {} } }] });
    let closed = Schema::from_value(&open).unwrap();
    let closed = closed.export().closed(true).to_value();
    assert_eq!(closed["unevaluatedProperties"], false);
    assert_eq!(closed["anyOf"][0].get("additionalProperties"), None);
}

#[test]
fn responses_may_have_additional_keys() {
    struct Open;
    impl HasSchema for Open {
        fn rule() -> Rule {
            Rule::object([("a", Rule::string())]).unevaluated_properties(false)
        }
    }
    assert_eq!(Open::schema().unwrap().to_json_schema()["unevaluatedProperties"], false);
    let reply = Open::reply_schema().unwrap().to_json_schema();
    assert_eq!(reply.get("unevaluatedProperties"), None);
}

#[test]
fn marks_inside_of_alternatives_are_errors() {
    let secret = Rule::object([("password", Rule::string().write_only())]);
    let error = Rule::any().any_of([secret]).build().unwrap_err();
    assert!(error.issues()[0].message().contains("`writeOnly` has no effect"), "{error}");
}

#[test]
fn typed_values_are_read() {
    let schema = Schema::from_value(&payment()).unwrap();
    let options = ValidationOptions::new();
    let text = br#"{ "kind": "card", "amount": 1, "token": "abcd" }"#;
    let value: Value = schema.read_json(text, &options).unwrap();
    assert_eq!(value["token"], "abcd");
    assert!(schema.read_json::<Value>(br#"{ "kind": "card", "amount": 1 }"#, &options).is_err());
}

#[test]
fn keywords_of_forms_and_queries_are_errors_inside_alternatives() {
    for (keyword, value, kind) in [
        ("separator", json!(","), "array"),
        ("style", json!("deepObject"), "object"),
        ("maxBytes", json!(10), "string"),
        ("mediaTypes", json!(["image/png"]), "string"),
    ] {
        let field = json!({ "type": kind, keyword: value });
        let schema = json!({ "type": "object", "oneOf": [{ "properties": { "a": field } }] });
        let error = Schema::from_value(&schema).unwrap_err().to_string();
        let expected = format!(
            "`{keyword}` has no effect inside an alternative or condition: set it on a property \
             of the schema around it (at `/oneOf/0/properties/a/{keyword}`)"
        );
        assert!(error.contains(&expected), "{error}");
    }
}
