//! Text that is validated without parsing: the errors are the same as for
//! parsed data, with the same messages in the same order.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stockade_validation::{HasSchema, ReadError, Rule, Schema, ValidationOptions};

use crate::reading::RULES;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only shown")]
struct Fields {
    a: Option<Value>,
    b: Option<Vec<i64>>,
    #[serde(default)]
    c: String,
}

/// Returns all details of an outcome as text.
fn shown<T: Debug>(outcome: Result<T, ReadError>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(ReadError::Invalid(errors)) => format!("{errors:#?}"),
        Err(error) => format!("{error} {error:?}"),
    }
}

/// A rule with a function needs parsed data.
#[track_caller]
fn agree(rule: &Rule, text: &str, options: &ValidationOptions) {
    let unparsed = rule.clone().build().unwrap();
    let parsed = rule.clone().custom(|_, _, _| true).build().unwrap();
    agree_on::<Value>(&unparsed, &parsed, text, options);
    agree_on::<Fields>(&unparsed, &parsed, text, options);
    agree_on::<BTreeMap<String, i64>>(&unparsed, &parsed, text, options);
}

#[track_caller]
fn agree_on<T: DeserializeOwned + Debug>(
    unparsed: &Schema,
    parsed: &Schema,
    text: &str,
    options: &ValidationOptions,
) {
    let actual = shown(unparsed.read_json::<T>(text.as_bytes(), options));
    let expected = shown(parsed.read_json::<T>(text.as_bytes(), options));
    assert_eq!(actual, expected, "{unparsed:?} with {options:?} for {text}");
}

/// Scalars as clients write them. A few are not JSON.
const SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "1",
    "2",
    "1.0",
    "2.5",
    "3e0",
    "-7",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "1e300",
    r#""""#,
    r#"" ""#,
    r#""a""#,
    r#""\u0061""#,
    r#"" b\t""#,
    r#""\ud83d\ude00""#,
    r#""é""#,
    r#""7""#,
    r#""true""#,
    r#""one\ntwo \"three\"""#,
    r#""ada@example.com""#,
    r#""2eb8aa08-aa98-11ea-b4aa-73b441d16380""#,
];

/// Texts that are not JSON.
const BROKEN: &[&str] = &[
    "",
    "1e400",
    "01",
    "nul",
    "tru",
    "[",
    "{",
    "[1,]",
    "{\"a\":1,}",
    "{a:1}",
    "\"",
    "\"\\x\"",
    "\"\\ud800\"",
    "\"\n\"",
    "]",
    "1 2",
    "'a'",
];

const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "e",
    "z",
    r"\u0061",
    r"\u007a",
    "é",
    "",
    "kind",
    "other",
    "leaf",
    "branch",
    "$serde_json::private::Number",
];

fn text() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(SCALARS).prop_map(str::to_owned);
    let broken = prop::sample::select(BROKEN).prop_map(str::to_owned);
    prop_oneof![200 => scalar, 1 => broken].prop_recursive(4, 32, 6, |inner| {
        let member = (prop::sample::select(NAMES), inner.clone());
        prop_oneof![
            1 => prop::collection::vec(inner, 0..5).prop_map(|items| list('[', &items, ']')),
            3 => prop::collection::vec(member, 0..6).prop_map(|members| {
                let member = |(name, value): &(&str, String)| format!("\"{name}\" : {value}");
                list('{', &members.iter().map(member).collect::<Vec<_>>(), '}')
            }),
        ]
    })
}

fn list(open: char, items: &[String], close: char) -> String {
    format!("{open} {}\n{close}", items.join(", "))
}

fn options() -> impl Strategy<Value = ValidationOptions> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.1));
    let most = prop_oneof![Just(0_usize), Just(2), Just(1_000)];
    (flags, any::<Option<bool>>(), most).prop_map(|((strip, coerce, list, early), allow, most)| {
        let mut options = ValidationOptions::new().strip_unknown(strip).coerce_types(coerce);
        options.allow_unknown = allow;
        options.list_from_one(list).abort_early(early).max_errors(most)
    })
}

/// Additions to [`RULES`]: messages, nesting, literals of all kinds.
const MORE: &[&str] = &[
    r#"{ "type": "string", "message": "Ours", "required": true, "minLength": 2 }"#,
    r#"{ "type": "uuid" }"#,
    r#"{ "format": "date-time", "pattern": "^a", "maxLength": 1 }"#,
    r#"{ "type": "object", "properties": { "a": { "type": "integer", "required": true }, "b": { "type": "string", "trim": true } }, "additionalProperties": false }"#,
    r#"{ "type": "array", "items": { "type": "object", "properties": { "a": { "type": "boolean" } }, "required": ["a", "b"] }, "minItems": 2 }"#,
    r#"{ "type": "array", "items": { "type": "array", "items": { "enum": [1, "a", [2], null] } }, "uniqueItems": true }"#,
    r#"{ "const": { "a": 1, "b": [true] } }"#,
    r#"{ "const": 2.5 }"#,
    r#"{ "const": null }"#,
    r#"{ "additionalProperties": { "type": ["integer", "null"], "maximum": 2 }, "minProperties": 2 }"#,
    r#"{ "type": "number", "exclusiveMinimum": 0, "maximum": 2, "max": 1.5, "default": 1 }"#,
];

fn one_rule() -> impl Strategy<Value = Rule> {
    let more = MORE.iter().map(|text| serde_json::from_str(text).unwrap());
    let all: Vec<Value> = RULES.iter().cloned().chain(more).collect();
    prop::sample::select(all).prop_map(|rule| Rule::from_value(&rule))
}

/// A type of unlimited depth.
struct Tree;

impl HasSchema for Tree {
    fn rule() -> Rule {
        let list = Rule::array(Rule::of::<Self>()).max_items(2);
        let fields = [("a", Rule::integer().required()), ("b", list), ("c", Rule::string())];
        Rule::object(fields)
    }
}

fn rule() -> impl Strategy<Value = Rule> {
    one_rule().prop_recursive(2, 8, 5, |inner| {
        let fields = prop::collection::vec(inner.clone(), 5);
        prop_oneof![
            4 => fields.prop_map(|fields| Rule::object(["a", "b", "c", "d", "e"].into_iter().zip(fields))),
            1 => inner.clone().prop_map(Rule::array),
            1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| Rule::tuple([left, right])),
            1 => (inner.clone(), inner.clone()).prop_map(|(leaf, branch)| {
                Rule::variants([("leaf", Some(leaf)), ("branch", Some(branch)), ("a", None)])
            }),
            1 => inner.prop_map(|inner| {
                let leaf = Rule::object([("a", inner)]);
                let branch = Rule::object([("b", Rule::of::<Tree>().message("no tree"))]);
                Rule::tagged("kind", [("a", leaf), ("b", branch)])
            }),
            1 => Just(Rule::of::<Tree>()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_and_parsed_data_agree(rule in rule(), text in text(), options in options()) {
        agree(&rule, &text, &options);
    }

    #[test]
    fn fields_of_text_and_parsed_data_agree(
        rules in prop::collection::vec(one_rule(), 5),
        members in prop::collection::vec((prop::sample::select(NAMES), text()), 0..7),
        options in options(),
    ) {
        let rule = Rule::object(["a", "b", "c", "d", "e"].into_iter().zip(rules));
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        agree(&rule, &list('{', &members, '}'), &options);
    }
}

/// Returns an object of `count` members. The last one is invalid.
fn wide(count: usize) -> String {
    let members: Vec<_> = (0..count).map(|number| format!("\"n{number}\": {number}")).collect();
    list('{', &[members.join(", "), "\"a\": \"wrong\"".to_owned()], '}')
}

#[test]
fn wide_objects_behave_the_same() {
    let names: Vec<String> = (0..40).map(|number| format!("n{number}")).collect();
    let many = names.iter().map(|name| (name.as_str(), Rule::integer().maximum(7)));
    let rules = [
        Rule::object([("a", Rule::integer())]).additional_properties(false),
        // More properties than a walk tracks, and names that are only required.
        Rule::object(many).required_fields(["a", "y", "z"]),
    ];
    for rule in &rules {
        for count in [1, 31, 32, 33, 62, 63, 64, 65, 200] {
            agree(rule, &wide(count), &ValidationOptions::new());
        }
    }
}

#[test]
fn duplicate_names_agree() {
    let rule = Rule::object([("a", Rule::integer()), ("b", Rule::array(Rule::string()))])
        .additional_properties(false);
    for text in [
        r#"{ "a": 1, "a": "x" }"#,
        r#"{ "a": "x", "a": 1 }"#,
        r#"{ "a": "x", "\u0061": 1, "b": [1] }"#,
        r#"{ "x": 1, "y": 2, "x": 3 }"#,
        r#"{ "b": [{ "c": 1, "c": 2 }] }"#,
        r#"{ "a": 1, "b": ["x"], "a": 2 }"#,
    ] {
        agree(&rule, text, &ValidationOptions::new());
    }
}

#[test]
fn malformed_json_has_a_position() {
    let rule = Rule::object([("a", Rule::integer())]);
    for broken in BROKEN {
        for text in [(*broken).to_owned(), format!("{{\n \"a\": \"x\",\n  \"b\": {broken} }}")] {
            agree(&rule, &text, &ValidationOptions::new());
        }
    }
    for levels in [125, 126, 127, 128, 10_000] {
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        agree(&rule, &deep, &ValidationOptions::new());
        agree(&rule, &format!("{{ \"a\": {deep} }}"), &ValidationOptions::new());
    }
}

#[test]
fn options_limit_the_errors() {
    let rule = Rule::array(Rule::object([("a", Rule::integer().required())]));
    let items = vec![r#"{ "a": "x" }"#.to_owned(); 50];
    for most in [0, 1, 7, 50, 51] {
        let options = ValidationOptions::new().max_errors(most);
        agree(&rule, &list('[', &items, ']'), &options);
    }
    let long = format!(r#"{{ "{}": [{}] }}"#, "k".repeat(9_000), ["{}"; 50].join(","));
    let keyed = Rule::any().additional_properties(rule);
    agree(&keyed, &long, &ValidationOptions::new().max_errors(20));
    let schema = Schema::from_value(&json!({ "a": { "type": "integer" } })).unwrap();
    let early = ValidationOptions::new().abort_early(true);
    assert!(schema.read_json::<Value>(br#"{ "a": "x" }"#, &early).is_err());
}
