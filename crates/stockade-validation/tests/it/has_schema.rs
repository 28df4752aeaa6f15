//! Types with a schema: hand-written, and from the standard library.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZero;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stockade_validation::read_internals::{Field, PairsKind, read_texts_into};
use stockade_validation::{
    HasSchema, Rule, Schema, Unchecked, ValidationOptions, validate_against_schema,
};

use crate::support::{check_with, lines};

#[track_caller]
fn check<T: HasSchema>(valid: &[Value], invalid: &[Value]) {
    let schema = T::schema().unwrap();
    for value in valid {
        check_with(&schema, value, &[]);
    }
    for value in invalid {
        let errors = schema.check(value, &ValidationOptions::new()).unwrap();
        assert!(!errors.is_empty(), "{value}");
    }
}

#[track_caller]
fn exports<T: HasSchema>(expected: &Value) {
    assert_eq!(T::schema().unwrap().to_json_schema(), *expected);
}

#[test]
fn scalars() {
    check::<bool>(&[json!(true)], &[json!("true"), json!(null)]);
    check::<u8>(&[json!(0), json!(255)], &[json!(-1), json!(256), json!(1.5)]);
    check::<i8>(&[json!(-128), json!(127)], &[json!(-129), json!(128)]);
    check::<u16>(&[json!(65535)], &[json!(65536)]);
    check::<i16>(&[json!(-32768)], &[json!(-32769)]);
    check::<u32>(&[json!(u32::MAX)], &[json!(1_u64 << 32)]);
    check::<i32>(&[json!(i32::MIN)], &[json!(i64::from(i32::MIN) - 1)]);
    check::<u64>(&[json!(u64::MAX)], &[json!(-1), json!("1")]);
    check::<i64>(&[json!(i64::MIN)], &[json!(0.5)]);
    check::<u128>(&[json!(1)], &[json!(-1)]);
    check::<i128>(&[json!(-1)], &[json!("1")]);
    check::<f64>(&[json!(0.5), json!(1)], &[json!("0.5")]);
    check::<f32>(&[json!(0.5)], &[json!(null)]);
    check::<char>(&[json!("ü")], &[json!(""), json!("ab")]);
    check::<String>(&[json!("")], &[json!(1)]);
    check::<Arc<str>>(&[json!("a")], &[json!(1)]);
    check::<()>(&[json!(null)], &[json!(0)]);
    check::<Value>(&[json!(null), json!([1])], &[]);
    check::<Map<String, Value>>(&[json!({ "a": 1 })], &[json!([])]);
}

#[test]
fn integers_of_128_bits_stop_at_64_bits_in_every_source() {
    let beyond = u128::from(u64::MAX) + 1;
    let below = i128::from(i64::MIN) - 1;
    every_source::<u128>(&[u64::MAX.to_string(), "0".into()], &[beyond.to_string(), "-1".into()]);
    every_source::<i128>(
        &[u64::MAX.to_string(), i64::MIN.to_string()],
        &[beyond.to_string(), below.to_string(), i128::MIN.to_string(), u128::MAX.to_string()],
    );
    every_source::<NonZero<u128>>(&["1".into()], &["0".into(), beyond.to_string()]);
    every_source::<NonZero<i128>>(&["-1".into()], &["0".into(), below.to_string()]);
    let document = i128::schema().unwrap().to_json_schema();
    assert_eq!(document["minimum"], json!(i64::MIN));
    assert_eq!(document["maximum"], json!(u64::MAX));
    let document = u128::schema().unwrap().to_json_schema();
    assert_eq!((&document["minimum"], &document["maximum"]), (&json!(0), &json!(u64::MAX)));
}

/// Reads numbers from JSON, from parsed data and from a parameter.
#[track_caller]
fn every_source<T: HasSchema + DeserializeOwned>(valid: &[String], invalid: &[String]) {
    let schema = T::schema().unwrap();
    let options = ValidationOptions::new();
    for (text, is_valid) in
        valid.iter().map(|text| (text, true)).chain(invalid.iter().map(|text| (text, false)))
    {
        let from_json = schema.read_json::<T>(text.as_bytes(), &options);
        assert_eq!(from_json.is_ok(), is_valid, "JSON {text}");
        let value: Value = serde_json::from_str(text).unwrap();
        let from_value = schema.read_value::<T>(&value, &options);
        assert_eq!(from_value.is_ok(), is_valid, "value {text}");
        let mut slot = None::<T>;
        let mut field = std::iter::once(Field::new("id".into(), text.as_str().into()));
        let is_quick = schema.read_pairs_into(&mut field, PairsKind::Ordered, &options, &mut slot);
        // A rule with a function always uses the slow path.
        assert!(is_valid || !is_quick, "parameter {text}");
        let validated = validate_against_schema(&schema, json!(text), &ValidationOptions::query());
        let validated = validated.unwrap();
        let is_read =
            validated.valid() && read_texts_into("id", &validated.data, &mut None::<T>).is_ok();
        assert_eq!(is_read, is_valid, "judged parameter {text}");
    }
}

#[test]
fn addresses() {
    check::<Ipv4Addr>(&[json!("127.0.0.1")], &[json!("::1"), json!("a")]);
    check::<Ipv6Addr>(&[json!("::1")], &[json!("127.0.0.1")]);
    check::<IpAddr>(&[json!("127.0.0.1"), json!("::1")], &[json!("localhost"), json!(1)]);
}

#[test]
fn collections() {
    check::<Option<u8>>(&[json!(null), json!(1)], &[json!(256)]);
    check::<Vec<u8>>(&[json!([]), json!([1, 1])], &[json!([256]), json!({})]);
    check::<VecDeque<u8>>(&[json!([1])], &[json!(["a"])]);
    check::<Box<[u8]>>(&[json!([1])], &[json!(["a"])]);
    check::<Box<u8>>(&[json!(1)], &[json!(256)]);
    check::<HashSet<u8>>(&[json!([1, 2])], &[json!([1, 1])]);
    check::<BTreeSet<u8>>(&[json!([1, 2])], &[json!([1, 1])]);
    check::<[u8; 2]>(&[json!([1, 2])], &[json!([1]), json!([1, 2, 3])]);
    check::<HashMap<String, u8>>(&[json!({}), json!({ "a": 1 })], &[json!({ "a": 256 })]);
    check::<BTreeMap<u32, u8>>(&[json!({ "1": 1 })], &[json!([])]);
    check::<(u8, String)>(&[json!([1, "a"])], &[json!(["a", 1]), json!([1]), json!([1, "a", 2])]);
    check::<Unchecked<std::time::Duration>>(&[json!("anything")], &[]);
}

#[test]
fn documents() {
    exports::<u8>(&json!({ "type": "integer", "minimum": 0, "maximum": 255, "format": "uint8" }));
    exports::<Option<bool>>(&json!({ "type": ["boolean", "null"] }));
    exports::<(bool, char)>(&json!({
        "type": "array",
        "prefixItems": [
            { "type": "boolean" },
            { "type": "string", "minLength": 1, "maxLength": 1 },
        ],
        "minItems": 2,
        "maxItems": 2,
    }));
    exports::<HashMap<String, bool>>(
        &json!({ "type": "object", "additionalProperties": { "type": "boolean" } }),
    );
}

struct Tree;

impl HasSchema for Tree {
    fn rule() -> Rule {
        Rule::object([
            ("name", Rule::string().trim().required()),
            ("children", Rule::array(Rule::of::<Self>())),
            ("best", Rule::of::<Self>().nullable()),
        ])
    }
}

fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!({ "name": " leaf " }), |tree, _| json!({ "name": "a", "children": [tree] }))
}

#[test]
fn recursive_types_are_checked_at_every_level() {
    let schema = Tree::schema().unwrap();
    check_with(&schema, &nested(3), &[]);
    check_with(
        &schema,
        &json!({ "name": "a", "children": [{ "name": "b", "best": { "name": 1 } }, 2] }),
        &[
            "children[0].best.name: Expected string, got number (type)",
            "children[1]: Expected object, got number (type)",
        ],
    );
    // Deeply nested changes are preserved.
    let options = ValidationOptions::new();
    let outcome = validate_against_schema(&schema, nested(2), &options).unwrap();
    assert_eq!(outcome.data["children"][0]["children"][0]["name"], "leaf");
}

#[test]
fn recursion_stops_at_the_depth_of_the_data() {
    let schema = Tree::schema().unwrap();
    check_with(&schema, &nested(60), &[]);
    check_with(&schema, &nested(100), &[": Value is nested more than 128 levels deep (depth)"]);
}

#[test]
fn stops_an_endless_transform() {
    struct Endless;
    impl HasSchema for Endless {
        fn rule() -> Rule {
            Rule::object([("more", Self::field_rule())]).transform(|_| json!({ "more": 1 }))
        }
    }
    impl Endless {
        fn field_rule() -> Rule {
            Rule::of::<Self>()
        }
    }
    let schema = Rule::of::<Endless>().build().unwrap();
    let errors = schema.check(&json!({}), &ValidationOptions::new()).unwrap();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].rule, "depth");
}

#[test]
fn types_that_refer_only_to_themselves_are_errors() {
    struct Circle;
    impl HasSchema for Circle {
        fn rule() -> Rule {
            Rule::of::<Option<Box<Self>>>()
        }
    }
    let error = Rule::of::<Circle>().build();
    // `Option<Box<Circle>>` inlines the rule, which refers to itself.
    assert!(error.is_err());
}

#[test]
fn errors_name_the_type_and_the_location() {
    struct Bad;
    impl HasSchema for Bad {
        fn rule() -> Rule {
            Rule::object([("name", Rule::string().pattern("("))])
        }
    }
    let error = Rule::array(Rule::of::<Bad>()).build().unwrap_err();
    let mistake = &error.issues()[0];
    assert!(mistake.message().starts_with("field `Bad.name`: invalid pattern"), "{mistake:?}");

    let error = Rule::of::<Tree>().property("a", Rule::any()).build().unwrap_err();
    assert_eq!(
        error.issues()[0].message(),
        "properties and items cannot be added to the rule of a type or to a union"
    );
}

#[test]
fn definitions_are_exported_once_by_name() {
    let schema = Rule::object([("tree", Rule::of::<Tree>()), ("other", Rule::of::<Tree>())]);
    assert_eq!(
        schema.build().unwrap().to_json_schema(),
        json!({
            "type": "object",
            "properties": {
                "tree": { "$ref": "#/$defs/Tree" },
                "other": { "$ref": "#/$defs/Tree" },
            },
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "minLength": 1, "pattern": "\\S" },
                        "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
                        "best": { "anyOf": [{ "$ref": "#/$defs/Tree" }, { "type": "null" }] },
                    },
                    "required": ["name"],
                },
            },
        })
    );
}

#[test]
fn duplicate_names_get_a_number() {
    mod other {
        pub(super) struct Tree;
        impl stockade_validation::HasSchema for Tree {
            fn rule() -> stockade_validation::Rule {
                stockade_validation::Rule::kind("object")
            }
        }
    }
    let rule = Rule::tuple([Rule::of::<Tree>(), Rule::of::<other::Tree>()]);
    let document = rule.build().unwrap().to_json_schema();
    let names: Vec<&String> = document["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Tree", "Tree2"]);
}

#[test]
fn a_schema_knows_its_type() {
    assert_eq!(Tree::schema().unwrap().rust_type(), Some(TypeId::of::<Tree>()));
    assert_eq!(Vec::<u8>::schema().unwrap().rust_type(), Some(TypeId::of::<Vec<u8>>()));
    assert_eq!(Rule::any().build().unwrap().rust_type(), None);
    assert_eq!(Schema::from_value(&json!({})).unwrap().rust_type(), None);
}

#[test]
fn custom_is_not_called_after_a_type_error() {
    let schema = Rule::of::<Tree>().custom(|_, _, _| false).build().unwrap();
    check_with(&schema, &json!(1), &[": Expected object, got number (type)"]);
    let errors = schema.check(&json!({}), &ValidationOptions::new()).unwrap();
    assert_eq!(
        lines(&errors),
        ["name: Required field 'name' is missing (required)", ":  is invalid (custom)",]
    );
}

struct Nick;

impl HasSchema for Nick {
    fn rule() -> Rule {
        Rule::string().trim().max_length(3)
    }
}

/// Refers to another definition.
struct Alias;

impl HasSchema for Alias {
    fn rule() -> Rule {
        Rule::of::<Nick>()
    }
}

struct Person;

impl HasSchema for Person {
    fn rule() -> Rule {
        Rule::object([("name", Rule::string()), ("friend", Rule::of::<Self>())])
            .required_fields(["name"])
            .min_properties(1)
    }
}

// Regression: the message of a field did not reach the rule of its type.
#[test]
fn the_message_of_a_field_replaces_the_message_of_its_type() {
    let schema = Rule::object([
        ("nick", Rule::of::<Nick>().message("bad nick")),
        ("alias", Rule::of::<Alias>().message("bad alias")),
        ("plain", Rule::of::<Nick>()),
        ("person", Rule::of::<Person>().message("bad person")),
    ]);
    let schema = schema.build().unwrap();
    check_with(
        &schema,
        &json!({ "nick": "long", "alias": 1, "plain": "long", "person": "x" }),
        &[
            "nick: bad nick (maxLength)",
            "alias: bad alias (type)",
            "plain: String must be at most 3 characters (maxLength)",
            "person: bad person (type)",
        ],
    );
    // The message does not apply to the content of the value.
    check_with(
        &schema,
        &json!({ "person": { "name": 1, "friend": {} } }),
        &[
            "person.name: Expected string, got number (type)",
            "person.friend.name: Required field 'name' is missing (required)",
            "person.friend: Object must have at least 1 properties (minProperties)",
        ],
    );
    check_with(
        &schema,
        &json!({ "person": {} }),
        &[
            "person.name: Required field 'name' is missing (required)",
            "person: bad person (minProperties)",
        ],
    );
}

// Regression: text that was empty only after trimming counted as present.
#[test]
fn a_required_text_is_missing_if_trim_empties_it() {
    let schema = Rule::object([
        ("nick", Rule::of::<Nick>().required().message("who?")),
        ("alias", Rule::of::<Alias>().required().custom(|_, _, _| false)),
        ("plain", Rule::of::<Nick>()),
    ]);
    let schema = schema.build().unwrap();
    check_with(
        &schema,
        &json!({ "nick": "  ", "alias": " ", "plain": " " }),
        &["nick: who? (required)", "alias: Required field 'alias' is missing (required)"],
    );
}
