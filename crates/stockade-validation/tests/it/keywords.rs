//! Every keyword for a single value, in both notations: message and rule.

use serde_json::{Value, json};

use crate::support::check_field;

#[test]
fn types() {
    let samples = [
        ("string", json!("x")),
        ("number", json!(1.5)),
        ("boolean", json!(true)),
        ("object", json!({ "a": 1 })),
        ("array", json!([1])),
        ("null", json!(null)),
    ];
    for (wanted, _) in &samples {
        for (kind, value) in &samples {
            let message = format!("Expected {wanted}, got {kind} (type)");
            let expected: &[&str] = if wanted == kind { &[] } else { &[&message] };
            check_field(&json!({ "type": wanted }), value, expected);
        }
    }
}

#[test]
fn integers_have_no_fraction() {
    let rule = json!({ "type": "integer" });
    for value in [json!(1), json!(-1), json!(1.0), json!(1e300), json!(u64::MAX)] {
        check_field(&rule, &value, &[]);
    }
    check_field(&rule, &json!(1.5), &["Expected integer, got number (type)"]);
    check_field(&rule, &json!("1"), &["Expected integer, got string (type)"]);
}

#[test]
fn a_list_of_types_means_any_of_them() {
    let rule = json!({ "type": ["string", "integer", "null"] });
    for value in [json!("x"), json!(1), json!(null)] {
        check_field(&rule, &value, &[]);
    }
    let expected = "Expected string or integer or null, got boolean (type)";
    check_field(&rule, &json!(true), &[expected]);
}

#[test]
fn formats_as_types() {
    for (name, good, message) in [
        ("email", "ada@example.com", "Invalid email format"),
        ("url", "https://example.com/a", "Invalid URL format"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "Invalid UUID format"),
        ("phone", "+49 (30) 1234-567", "Invalid phone number format"),
        ("credit-card", "4111 1111 1111 1111", "Invalid credit card number"),
        ("date", "2024-02-29", "Invalid date"),
    ] {
        let rule = json!({ "type": name });
        check_field(&rule, &json!(good), &[]);
        check_field(&rule, &json!("!"), &[&format!("{message} ({name})")]);
        check_field(&rule, &json!(7), &[&format!("Expected {name}, got number (type)")]);
        check_field(&rule, &json!(null), &[&format!("Expected {name}, got null (type)")]);
    }
    let either = json!({ "type": ["email", "phone"] });
    check_field(&either, &json!("0301234567"), &[]);
    check_field(&either, &json!("!"), &["Expected email or phone, got string (type)"]);
    let or_null = json!({ "type": ["email", "null"] });
    check_field(&or_null, &json!(null), &[]);
    check_field(&or_null, &json!("!"), &["Expected email or null, got string (type)"]);
    let or_number = json!({ "type": ["number", "uuid"], "minLength": 9 });
    check_field(&or_number, &json!("!"), &["Expected number or uuid, got string (type)"]);
    // A list with one type is not a choice.
    check_field(&json!({ "type": ["email"] }), &json!("!"), &["Invalid email format (email)"]);
    check_field(&json!({ "type": ["email", "string"] }), &json!("!"), &[]);
}

#[test]
fn a_type_error_is_the_only_error_but_a_format_error_is_not() {
    let rule = json!({ "type": "email", "maxLength": 2, "pattern": "x" });
    let expected = [
        "Invalid email format (email)",
        "String must be at most 2 characters (maxLength)",
        "Invalid format (pattern)",
    ];
    check_field(&rule, &json!("!!!"), &expected);
    check_field(&rule, &json!([]), &["Expected email, got array (type)"]);
}

#[test]
fn null() {
    check_field(&json!({}), &json!(null), &[]);
    check_field(&json!({ "minLength": 3 }), &json!(null), &[]);
    check_field(&json!({ "type": "string", "nullable": true }), &json!(null), &[]);
    // Only `nullable` skips the other checks.
    check_field(&json!({ "nullable": true, "enum": ["a"] }), &json!(null), &[]);
    check_field(&json!({ "nullable": true, "const": "a" }), &json!(null), &[]);
    check_field(&json!({ "enum": ["a"] }), &json!(null), &["Must be one of: \"a\" (enum)"]);
    check_field(&json!({ "const": "a" }), &json!(null), &["Must be \"a\" (const)"]);
    check_field(&json!({ "enum": ["a", null], "const": null }), &json!(null), &[]);
    let either = json!({ "type": ["string", "null"], "enum": ["a"] });
    check_field(&either, &json!(null), &["Must be one of: \"a\" (enum)"]);
}

#[test]
fn required_as_a_boolean() {
    let missing = &["Required field 'v' is missing (required)"];
    for (rule, value, fails) in [
        (json!({ "required": true }), json!(null), true),
        (json!({ "required": true }), json!(""), true),
        (json!({ "required": true }), json!(" "), false),
        (json!({ "required": true, "trim": true }), json!(" "), true),
        (json!({ "required": true, "nullable": true }), json!(null), false),
        (json!({ "required": true, "type": ["string", "null"] }), json!(null), false),
        (json!({ "required": true, "type": "string" }), json!(null), true),
        (json!({ "required": true, "type": "string", "minLength": 2 }), json!(""), true),
        (json!({ "required": true, "default": "x" }), json!(""), false),
        (json!({ "required": true }), json!(0), false),
        (json!({ "required": true }), json!(false), false),
        (json!({ "required": true }), json!([]), false),
        (json!({ "required": true }), json!({}), false),
        (json!({ "required": false }), json!(null), false),
    ] {
        check_field(&rule, &value, if fails { missing } else { &[] });
    }
}

#[test]
fn enum_and_const() {
    let rule = json!({ "enum": ["a", 1, { "x": 1, "y": [2] }, null] });
    for value in [json!("a"), json!(1), json!(1.0), json!({ "y": [2.0], "x": 1 }), json!(null)] {
        check_field(&rule, &value, &[]);
    }
    let message = r#"Must be one of: "a", 1, {"x":1,"y":[2]}, null (enum)"#;
    for value in [json!("b"), json!(2), json!(true), json!({ "x": 1 }), json!([2])] {
        check_field(&rule, &value, &[message]);
    }
    check_field(&json!({ "const": { "a": 1 } , "type": "object"}), &json!({ "a": 1.0 }), &[]);
    check_field(&json!({ "const": "x" }), &json!("y"), &["Must be \"x\" (const)"]);
    check_field(&json!({ "const": false }), &json!(0), &["Must be false (const)"]);
    let both = json!({ "enum": [1, 2], "const": 3 });
    check_field(&both, &json!(4), &["Must be one of: 1, 2 (enum)", "Must be 3 (const)"]);
}

#[test]
fn lengths_count_code_points() {
    let rule = json!({ "minLength": 2, "maxLength": 3.0 });
    for value in ["ab", "abc", "äö", "💩💩💩"] {
        check_field(&rule, &json!(value), &[]);
    }
    check_field(&rule, &json!("💩"), &["String must be at least 2 characters (minLength)"]);
    check_field(&rule, &json!("💩💩💩💩"), &["String must be at most 3 characters (maxLength)"]);
    check_field(&rule, &json!([]), &[]);
    check_field(&rule, &json!(1), &[]);
}

#[test]
fn bounds_of_numbers() {
    for (rule, good, bad, expected) in [
        (json!({ "minimum": 2 }), json!(2), json!(1), "Number must be at least 2 (minimum)"),
        (json!({ "maximum": 2.0 }), json!(2), json!(3), "Number must be at most 2 (maximum)"),
        (
            json!({ "exclusiveMinimum": 1.5 }),
            json!(2),
            json!(1.5),
            "Number must be greater than 1.5 (exclusiveMinimum)",
        ),
        (
            json!({ "exclusiveMaximum": 2 }),
            json!(1.9),
            json!(2.0),
            "Number must be less than 2 (exclusiveMaximum)",
        ),
        (
            json!({ "maximum": 9_007_199_254_740_992_u64 }),
            json!(9_007_199_254_740_992.0),
            json!(9_007_199_254_740_993_u64),
            "Number must be at most 9007199254740992 (maximum)",
        ),
    ] {
        check_field(&rule, &good, &[]);
        check_field(&rule, &bad, &[expected]);
        check_field(&rule, &json!("text"), &[]);
    }
}

#[test]
fn min_and_max_depend_on_the_kind_of_value() {
    let rule = json!({ "min": 2, "max": 3 });
    let items = |count: usize| Value::from(vec![0; count]);
    for value in [json!(2), json!(3), json!("ab"), items(3), json!(true), json!({})] {
        check_field(&rule, &value, &[]);
    }
    for (value, expected) in [
        (json!(1), "Number must be at least 2 (min)"),
        (json!(4), "Number must be at most 3 (max)"),
        (json!("ä"), "String must be at least 2 characters (min)"),
        (json!("abcd"), "String must be at most 3 characters (max)"),
        (items(1), "Array must contain at least 2 items (min)"),
        (items(4), "Array must contain at most 3 items (max)"),
    ] {
        check_field(&rule, &value, &[expected]);
    }
    let counted = json!({ "min": 5, "minItems": 2, "max": 9, "maxItems": 3 });
    check_field(&counted, &items(2), &[]);
    check_field(&counted, &items(1), &["Array must contain at least 2 items (minItems)"]);
    check_field(&counted, &items(4), &["Array must contain at most 3 items (maxItems)"]);
}

#[test]
fn counts_and_uniqueness_of_arrays() {
    let rule = json!({ "type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": true });
    check_field(&rule, &json!([1, "1"]), &[]);
    check_field(&rule, &json!([1]), &["Array must contain at least 2 items (minItems)"]);
    let expected =
        ["Array must contain at most 3 items (maxItems)", "Items must be unique (uniqueItems)"];
    check_field(&rule, &json!([1, 2, 3, 1.0]), &expected);
    check_field(&json!({ "uniqueItems": false }), &json!([1, 1]), &[]);
}

#[test]
fn pattern_matches_anywhere() {
    let rule = json!({ "pattern": "b\\d" });
    check_field(&rule, &json!("ab1c"), &[]);
    check_field(&rule, &json!("abc"), &["Invalid format (pattern)"]);
    check_field(&rule, &json!(7), &[]);
}

#[test]
fn formats_as_keyword() {
    for (name, good, message) in [
        ("email", "joe@localhost", "Invalid email format"),
        ("uri", "tel:+1-816-555-1212", "Invalid URI format"),
        ("url", "https://example.com", "Invalid URL format"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "Invalid UUID format"),
        ("date", "2024-02-29", "Invalid date"),
        ("date-time", "2024-02-29T12:00:00Z", "Invalid date-time"),
        ("time", "12:00:00Z", "Invalid time"),
        ("hostname", "example.com", "Invalid hostname"),
        ("ipv4", "127.0.0.1", "Invalid IPv4 address"),
        ("ipv6", "::1", "Invalid IPv6 address"),
        ("phone", "+49 (30) 1234-567", "Invalid phone number format"),
        ("credit-card", "4111 1111 1111 1111", "Invalid credit card number"),
    ] {
        let rule = json!({ "format": name });
        check_field(&rule, &json!(good), &[]);
        check_field(&rule, &json!("^ ^"), &[&format!("{message} (format)")]);
        check_field(&rule, &json!(7), &[]);
    }
}

#[test]
fn a_message_replaces_the_default_messages() {
    let rule = json!({ "type": "string", "minLength": 2, "pattern": "x", "message": "No" });
    check_field(&rule, &json!("a"), &["No (minLength)", "No (pattern)"]);
    check_field(&rule, &json!(1), &["No (type)"]);
    let rule = json!({ "type": "email", "required": true, "message": "No" });
    check_field(&rule, &json!("a"), &["No (email)"]);
    check_field(&rule, &json!(""), &["No (required)"]);
}

#[test]
fn checks_the_trimmed_text() {
    let rule = json!({ "trim": true, "maxLength": 1, "enum": ["a"] });
    check_field(&rule, &json!(" \n a\u{a0}"), &[]);
    check_field(&rule, &json!(5), &["Must be one of: \"a\" (enum)"]);
}

#[test]
fn boolean_schemas() {
    check_field(&json!(true), &json!({ "any": 1 }), &[]);
    check_field(&json!(false), &json!(1), &["Value is not allowed (false)"]);
    check_field(&json!({ "items": false }), &json!([]), &[]);
}

#[test]
fn errors_are_in_the_order_of_the_keywords() {
    let rule = json!({
        "format": "email", "pattern": "x", "max": 1, "maxLength": 1, "const": "y", "enum": ["z"],
    });
    let expected = [
        "Must be one of: \"z\" (enum)",
        "Must be \"y\" (const)",
        "String must be at most 1 characters (maxLength)",
        "String must be at most 1 characters (max)",
        "Invalid format (pattern)",
        "Invalid email format (format)",
    ];
    check_field(&rule, &json!("abc"), &expected);
    let rule = json!({
        "max": 0, "exclusiveMaximum": 1, "maximum": 1, "items": { "type": "null" },
    });
    let expected = [
        "Number must be at most 1 (maximum)",
        "Number must be less than 1 (exclusiveMaximum)",
        "Number must be at most 0 (max)",
    ];
    check_field(&rule, &json!(2), &expected);
}
