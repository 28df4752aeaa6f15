//! Compares the choice of a variant with serde's choice.
//!
//! Each test reads generated values with many enums. The rules must choose the
//! same variant as serde if no keywords are added. The schema must never accept
//! a value from which serde builds a different variant.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZero;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::fit::{Fitting, Known};
use crate::node::{Compiled, FirstOf, Inner, Node};
use crate::{HasSchema, ReadError, Schema, ValidationOptions};

/// Returns the number of generated cases: `short`, or `long` if the variable `LONG` is set.
fn cases(long: u32, short: u32) -> u32 {
    if std::env::var_os("LONG").is_some() { long } else { short }
}

/// Returns the union at the root of a schema.
fn union_of(compiled: &Compiled) -> &FirstOf {
    let mut node: &Node = &compiled.root;
    loop {
        match node.inner.as_deref() {
            Some(Inner::Definition(place)) => node = &compiled.definitions[*place].node,
            Some(Inner::FirstOf(union)) => return union,
            inner => panic!("no union: {inner:?}"),
        }
    }
}

/// Returns the variant name of a value from its `Debug` output.
fn name_of(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    text.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Compares the choices for one value. `names` lists the variants in the order
/// of the rules.
#[track_caller]
fn compare<T: HasSchema + DeserializeOwned + Debug>(names: &[&str], value: &Value) {
    let schema = T::schema().unwrap();
    let options = ValidationOptions::new();
    let compiled = schema.compiled();
    let mut known = Known::default();
    let chosen = Fitting::new(&compiled.definitions, &options, &mut known)
        .choice(union_of(compiled), value)
        .map(|index| names[index].to_owned());
    let read = serde_json::from_value::<T>(value.clone()).ok().map(|value| name_of(&value));
    // Rules describe fewer forms than serde reads. A value in another form is
    // rejected.
    if chosen.is_some() || !has_undescribed_form(value) {
        assert_eq!(chosen, read, "{value}");
    }

    let text = value.to_string();
    match (schema.read_json::<T>(text.as_bytes(), &options), &read) {
        (Ok(built), Some(name)) => assert_eq!(name_of(&built), *name, "{value}"),
        (Ok(built), None) => panic!("serde does not read {value}: {built:?}"),
        (Err(ReadError::Invalid(errors)), _) => assert!(!errors.is_empty()),
        (Err(error), _) => panic!("{error}"),
    }
}

/// Returns true for a value that serde may read in a form that the rules do not
/// describe. Inside a union, serde reads a struct from an array and a tag from
/// the variant's index. It also reads a variant without content from an object
/// with a null value.
fn has_undescribed_form(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(map) => {
            let is_unit = map.len() == 1 && map.values().all(Value::is_null);
            let has_number = map.get("kind").is_some_and(Value::is_number);
            is_unit || has_number || map.values().any(has_undescribed_form)
        }
        _ => false,
    }
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Objects {
    A { a: u8 },
    B { a: u16, b: bool },
    C { a: i64, b: Option<String> },
    D { b: bool },
    E { c: f64, a: Option<u8> },
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Scalars {
    Small(u8),
    Text(String),
    Flag(bool),
    Float(f64),
    Null,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Containers {
    Pair(u8, i64),
    Three([i8; 3]),
    List(Vec<i32>),
    Map(BTreeMap<String, u8>),
    Any(Value),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged, deny_unknown_fields)]
#[expect(dead_code, reason = "only shown")]
enum Closed {
    A { a: u8 },
    B { a: u8, b: Option<bool> },
    C { c: Vec<Objects> },
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Nested {
    Object(Objects),
    Scalar(Scalars),
    List(Vec<Objects>),
    Maybe(Option<bool>),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Tree {
    Leaf(i32),
    Both { a: Box<Self>, b: Box<Self> },
    One { a: Box<Self> },
    List(Vec<Self>),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only shown")]
enum Tagged {
    A {
        a: u8,
    },
    B {
        b: bool,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, Schema)]
#[expect(dead_code, reason = "only shown")]
enum External {
    A(u8),
    B {
        b: bool,
    },
    #[serde(rename = "c")]
    C,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum WithTags {
    Tagged(Tagged),
    External(External),
    Text(String),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Named {
    A {
        #[serde(default)]
        a: u8,
        #[serde(alias = "kind")]
        b: String,
    },
    B {
        #[serde(rename = "c", alias = "d")]
        it: u8,
        #[serde(skip)]
        not: u8,
    },
    C(Color),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Color {
    A,
    B,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Narrow {
    Color(Color),
    Char(char),
    NonZero(NonZero<i8>),
    Large(u64),
    Unit(()),
    Pair((bool, String)),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Keywords {
    A {
        #[schema(min_length = 3, trim)]
        a: String,
    },
    B {
        #[schema(maximum = 5)]
        a: u8,
    },
    C {
        #[schema(max_items = 1, items(min_length = 2))]
        a: Vec<String>,
    },
    D {
        #[schema(values = ["x"])]
        b: String,
        #[schema(pattern = "^[0-9]+$")]
        c: Option<String>,
    },
    E(#[schema(kind = "email")] String),
}

#[derive(Debug, Deserialize, Schema)]
#[expect(dead_code, reason = "only shown")]
enum Mixed {
    A(u8),
    B,
    #[serde(untagged)]
    Object {
        a: u8,
    },
    #[serde(untagged)]
    Text(String),
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only shown")]
enum Flattened {
    A {
        a: u8,
        #[serde(flatten)]
        inner: Part,
    },
    B {
        #[serde(flatten)]
        rest: BTreeMap<String, bool>,
    },
}

#[derive(Debug, Deserialize, Schema)]
#[expect(dead_code, reason = "only shown")]
struct Part {
    b: bool,
    c: Option<String>,
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..300_i64).prop_map(Value::from),
        prop::sample::select(vec![0.5, -1.25, 1e300]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "b", "A", "B", "c", "x", "long text", "a@b.example"])
            .prop_map(Value::from),
        prop::sample::select(vec![u64::MAX, 1 << 40]).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "kind", "A", "B"]);
    scalar().prop_recursive(3, 20, 4, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((name(), inner), 0..4).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, it)| (name.to_owned(), it)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(3_000, 300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_select_the_variant_that_serde_builds(value in value()) {
        compare::<Objects>(&["A", "B", "C", "D", "E"], &value);
        compare::<Scalars>(&["Small", "Text", "Flag", "Float", "Null"], &value);
        compare::<Containers>(&["Pair", "Three", "List", "Map", "Any"], &value);
        compare::<Closed>(&["A", "B", "C"], &value);
        compare::<Nested>(&["Object", "Scalar", "List", "Maybe"], &value);
        compare::<Tree>(&["Leaf", "Both", "One", "List"], &value);
        compare::<WithTags>(&["Tagged", "External", "Text"], &value);
        compare::<Named>(&["A", "B", "C"], &value);
        compare::<Narrow>(&["Color", "Char", "NonZero", "Large", "Unit", "Pair"], &value);
        compare::<Keywords>(&["A", "B", "C", "D", "E"], &value);
        compare::<Flattened>(&["A", "B"], &value);
    }
}

#[test]
fn variants_with_and_without_a_tag() {
    let schema = Mixed::schema().unwrap();
    let options = ValidationOptions::new();
    for (value, expected) in [
        (json!({ "A": 1 }), Some("A")),
        (json!("B"), Some("B")),
        (json!({ "a": 1 }), Some("Object")),
        (json!("A"), Some("Text")),
        (json!("text"), Some("Text")),
        (json!({ "A": 300 }), None),
        (json!(1), None),
    ] {
        let plain = serde_json::from_value::<Mixed>(value.clone()).ok().map(|it| name_of(&it));
        assert_eq!(plain.as_deref(), expected, "serde for {value}");
        let read = schema.read_json::<Mixed>(value.to_string().as_bytes(), &options).ok();
        assert_eq!(read.map(|it| name_of(&it)).as_deref(), expected, "{value}");
    }
}

/// Types with rules that do not describe everything serde checks.
mod opaque {
    use super::*;

    #[derive(Debug, Deserialize, Schema)]
    #[serde(try_from = "u64")]
    pub(super) struct Even(#[expect(dead_code, reason = "only shown")] u64);

    impl TryFrom<u64> for Even {
        type Error = &'static str;

        fn try_from(number: u64) -> Result<Self, &'static str> {
            if number.is_multiple_of(2) { Ok(Self(number)) } else { Err("odd") }
        }
    }

    /// A type with a handwritten rule that serde does not check.
    #[derive(Debug, Deserialize)]
    pub(super) struct Sku(#[expect(dead_code, reason = "only shown")] String);

    impl HasSchema for Sku {
        fn rule() -> crate::Rule {
            crate::Rule::string().pattern("^[a-z]$")
        }
    }

    #[derive(Debug, Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only shown")]
    pub(super) enum Opaque {
        Even(Even),
        Odd(u64),
        With {
            #[serde(deserialize_with = "flag")]
            a: bool,
        },
        Sku(Sku),
        Text(String),
        Unchecked {
            #[schema(opaque)]
            b: Scalars,
            c: u8,
        },
        Any(Value),
    }

    fn flag<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        match <&str>::deserialize(deserializer) {
            Ok("yes") => Ok(true),
            _ => Err(serde::de::Error::custom("no flag")),
        }
    }
}

#[test]
fn serde_decides_if_the_rules_are_ambiguous() {
    let schema = opaque::Opaque::schema().unwrap();
    let options = ValidationOptions::new();
    let read = |value: &Value| {
        let read = schema.read_json::<opaque::Opaque>(value.to_string().as_bytes(), &options);
        read.map(|it| name_of(&it))
    };
    for (value, expected) in [
        (json!(2), "Even"),
        (json!(3), "Odd"),
        (json!({ "a": "no" }), "Any"),
        (json!("a"), "Sku"),
        (json!({ "b": true, "c": 1 }), "Unchecked"),
        (json!({ "b": [], "c": 1 }), "Any"),
        (json!([1]), "Any"),
    ] {
        let plain = serde_json::from_value::<opaque::Opaque>(value.clone()).unwrap();
        assert_eq!(name_of(&plain), expected, "serde for {value}");
        assert_eq!(read(&value).unwrap(), expected, "{value}");
    }
    // serde builds the first variant, but the value violates its keyword.
    let Err(ReadError::Invalid(errors)) = read(&json!("abc")) else {
        panic!("expected validation errors")
    };
    assert_eq!(errors[0].rule, "pattern");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2_000, 500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_the_variant_that_serde_builds(value in value()) {
        let schema = opaque::Opaque::schema().unwrap();
        let text = value.to_string();
        let read = schema.read_json::<opaque::Opaque>(text.as_bytes(), &ValidationOptions::new());
        if let Ok(read) = read {
            let plain = serde_json::from_value::<opaque::Opaque>(value.clone()).unwrap();
            prop_assert_eq!(name_of(&read), name_of(&plain), "{}", value);
        }
    }
}

/// Returns a value of `levels` nested unions that matches no variant. serde
/// would try two variants for each union.
fn deep(levels: usize, leaf: &Value) -> Value {
    (0..levels).fold(leaf.clone(), |inner, _| json!({ "a": inner }))
}

#[test]
fn nested_unions_take_no_exponential_time() {
    let schema = Tree::schema().unwrap();
    let options = ValidationOptions::new();
    let read = |value: &Value| schema.read_json::<Tree>(value.to_string().as_bytes(), &options);
    assert!(read(&deep(8, &json!(1))).is_ok());
    for leaf in [json!(1), json!("no")] {
        let Err(ReadError::Invalid(errors)) = read(&deep(120, &leaf)) else {
            panic!("it takes 2^120 steps")
        };
        assert_eq!(errors[0].rule, "schemaLimit", "{errors:?}");
    }
}

#[test]
fn a_self_referential_union_is_a_configuration_error() {
    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only described")]
    enum Left {
        Right(Box<Right>),
        Text(String),
    }

    #[derive(Deserialize, Schema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only described")]
    enum Right {
        Left(Left),
    }

    let error = Left::schema().map(|_: Schema| ()).unwrap_err();
    assert!(
        error.issues()[0].message().ends_with("the definition refers only to itself"),
        "{error}"
    );
}
