//! Tests for the messages of `schema!`.

use super::*;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let tokens: TokenStream = source.parse().expect("these are tokens");
    let mut errors = Errors::default();
    check_root(&json::read(tokens), &mut errors);
    assert_eq!(errors.messages(), expected, "{source}");
}

#[test]
fn names_unknown_keywords_with_their_pointers() {
    check(
        r#"{ "name": { "type": "string", "maxLenght": 40 } }"#,
        &["1:30 unknown keyword `maxLenght`, did you mean `maxLength`? (at `/name/maxLenght`)"],
    );
    check(
        r#"{ "type": "object", "properties": { "a/b": { "minimum": 1, "x": [] } } }"#,
        &["1:59 unknown keyword `x` (at `/properties/a~1b/x`)"],
    );
    check(
        r#"{ "anyOf": [{ "type": "string" }, { "min": 1, "colour": 2 }] }"#,
        &["1:46 unknown keyword `colour` (at `/anyOf/1/colour`)"],
    );
    check(
        r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema", "name": {} }"#,
        &["1:61 unknown keyword `name` (at `/name`)"],
    );
    check(
        r#"{ "tags": { "items": { "tpye": "string" } } }"#,
        &["1:23 unknown keyword `tpye`, did you mean `type`? (at `/tags/items/tpye`)"],
    );
}

#[test]
fn names_keywords_among_fields() {
    let message = |name: &str| {
        format!(
            "JSON Schema keyword `{name}` cannot be mixed with fields (at `/{name}`); use \
             `Schema::rule`, or `Schema::fields` for a field of this name"
        )
    };
    for name in ["not", "if", "contains", "$defs", "propertyNames"] {
        let source = format!(r#"{{ "name": {{}}, "{name}": {{}} }}"#);
        check(&source, &[&format!("1:14 {}", message(name))]);
    }
    check(r#"{ "then": {} }"#, &[&format!("1:2 {}", message("then"))]);
    check(r##"{ "$ref": "#/a", "a": {} }"##, &["1:17 unknown keyword `a` (at `/a`)"]);
}

#[test]
fn accepts_valid_schemas() {
    for source in [
        "{}",
        "true",
        "schema_of(a, b)",
        r#"{ "not": { "required": ["old"] } }"#,
        r#"{ "type": { "type": "string" }, "items": {} }"#,
        r#"{ "title": "T", "name": { "minLength": 1 } }"#,
        r#"{ "if": { "min": 1 }, "then": { "max": 3 } }"#,
        r#"{ "enum": [{ "x": 1 }], "default": { "y": 2 }, "examples": [{ "z": 3 }] }"#,
        r#"{ "dependentRequired": { "a": ["b"] }, "min": -1, "pattern": "a" }"#,
        r#"{ "const": { "any": 1 } }"#,
    ] {
        check(source, &[]);
    }
}

#[test]
fn expressions_are_checked_at_run_time() {
    for source in [
        r#"{ "maxLenght": longest }"#,
        r#"{ (name): { "x": 1 } }"#,
        r#"{ "type": kind, "colour": { "x": 1 } }"#,
        r#"{ "a": BTreeMap::<A, B>::new(), "b": { "x": 1 } }"#,
    ] {
        check(source, &[]);
    }
    check(
        r#"{ "type": "string", "maxLenght": longest }"#,
        &["1:20 unknown keyword `maxLenght`, did you mean `maxLength`? (at `/maxLenght`)"],
    );
}
