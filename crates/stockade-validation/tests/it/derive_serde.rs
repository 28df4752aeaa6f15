//! `#[derive(Schema)]` with every attribute of serde: the schema accepts the
//! JSON that serde reads, and the response schema describes the JSON that serde
//! writes.
//!
//! | attribute | on | the derive |
//! |---|---|---|
//! | `rename`, with both directions | type, variant, field | follows it |
//! | `rename_all`, with both directions | type, variant | follows it |
//! | `rename_all_fields`, with both directions | enum | follows it |
//! | `deny_unknown_fields` | type | rejects unknown members |
//! | `default`, with a path | struct, field, element of a tuple | the value may be absent |
//! | `tag`, `content` | enum | follows them |
//! | `tag` | struct | describes it in responses |
//! | `transparent` | struct | uses the schema of the field |
//! | `from`, `try_from` | type | uses the schema of that type for input |
//! | `into` | type | uses the schema of that type for output |
//! | `alias` | variant | accepts it |
//! | `alias` | field | does not compile |
//! | `skip`, `skip_serializing`, `skip_deserializing` | variant, field | follows them |
//! | `skip_serializing_if` | named field | the value may be absent in responses |
//! | `skip_serializing_if` | element of a tuple | does not compile |
//! | `flatten` | field | adds the properties of the type |
//! | `with`, `serialize_with`, `deserialize_with` | variant, field | accepts any value |
//! | `untagged`, `other`, `field_identifier`, `variant_identifier` | enum, variant | does not compile |
//! | `bound`, `borrow`, `crate`, `expecting`, `getter`, `remote` | any | nothing: the form stays |
//! | an attribute that the derive does not know | any | does not compile |
//! | `#[serde_as]`, `#[skip_serializing_none]` | above the derive | follows the attributes that they write |
//! | `#[serde_as]`, `#[skip_serializing_none]` | below the derive | does not compile |
//! | `Deserialize_repr`, `Serialize_repr` | enum | the numbers instead of the names |
//! | another derive or `impl` that reads another kind of value | type | the schema is not built |
//!
//! The compiler messages for rejected attributes are in `tests/ui`.

use std::fmt::Debug;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use serde_repr::{Deserialize_repr, Serialize_repr};
use stockade_validation::{HasSchema, Schema, ValidationOptions};

/// Checks that the schema and serde accept the same values, and that serde
/// reads the first `valid` of them.
#[track_caller]
fn reads<T: HasSchema + DeserializeOwned + Debug>(valid: &[Value], invalid: &[Value]) {
    let schema = T::schema().unwrap();
    let options = ValidationOptions::new();
    for (value, is_valid) in
        valid.iter().map(|value| (value, true)).chain(invalid.iter().map(|value| (value, false)))
    {
        let read = serde_json::from_value::<T>(value.clone());
        assert_eq!(read.is_ok(), is_valid, "serde reads {value}: {read:?}");
        let errors = schema.check(value, &options).unwrap();
        assert_eq!(errors.is_empty(), is_valid, "the schema for {value}: {errors:?}");
        let text = value.to_string();
        let read = schema.read_json::<T>(text.as_bytes(), &options);
        assert_eq!(read.is_ok(), is_valid, "the reader for {value}: {read:?}");
    }
}

/// Checks that serde writes `expected`, and that the response schema accepts
/// it.
#[track_caller]
fn writes<T: HasSchema + Serialize>(value: &T, expected: &Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), *expected);
    let schema = T::reply_schema().unwrap();
    let errors = schema.check(expected, &ValidationOptions::new()).unwrap();
    assert!(errors.is_empty(), "{expected}: {errors:?}");
    let document = schema.to_json_schema();
    assert!(jsonschema::validator_for(&document).unwrap().is_valid(expected), "{document}");
}

#[derive(Clone, Copy, Debug, Deserialize_repr, Serialize_repr, Schema)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 10,
}

#[derive(Debug, Deserialize, Serialize, Schema)]
struct Alarm {
    level: Level,
    others: Vec<Level>,
}

#[test]
fn an_enum_of_serde_repr_accepts_its_numbers() {
    reads::<Level>(&[json!(1), json!(10)], &[json!("Low"), json!(2), json!(null), json!(1.5)]);
    writes(&Level::High, &json!(10));
    reads::<Alarm>(
        &[json!({ "level": 1, "others": [10, 1] })],
        &[json!({ "level": "Low", "others": [] })],
    );
    let document = Level::schema().unwrap().to_json_schema();
    assert_eq!(document, json!({ "type": "integer", "enum": [1, 10] }));
    assert_eq!(Level::reply_schema().unwrap().to_json_schema(), document);
}

#[derive(Clone, Copy, Serialize_repr, Schema)]
#[repr(i64)]
enum Sent {
    Least = i64::MIN,
    Next,
}

#[derive(Debug, Deserialize_repr, Schema)]
#[repr(u64)]
enum Received {
    Zero,
    Most = u64::MAX,
}

#[derive(Debug, Deserialize_repr, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
#[repr(u16)]
enum Mixed {
    One = 1,
}

#[test]
fn each_direction_of_an_enum_with_numbers_follows_serde() {
    writes(&Sent::Least, &json!(i64::MIN));
    writes(&Sent::Next, &json!(i64::MIN + 1));
    reads::<Received>(&[json!(0), json!(u64::MAX)], &[json!(1), json!("Zero")]);
    reads::<Mixed>(&[json!(1)], &[json!("one")]);
    writes(&Mixed::One, &json!("one"));
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
enum Named {
    First = 7,
}

#[test]
fn an_enum_with_a_repr_keeps_its_names_without_serde_repr() {
    reads::<Named>(&[json!("first")], &[json!(7), json!("First")]);
    writes(&Named::First, &json!("first"));
    let document = Named::schema().unwrap().to_json_schema();
    assert_eq!(document, json!({ "type": "string", "enum": ["first"] }));
}

/// Reads a type like `DeserializeFromStr` of `serde_with`.
macro_rules! read_from_text {
    ($($ty:ty => $value:expr;)*) => {
        $(impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <&str>::deserialize(deserializer).map(|_| $value)
            }
        })*
    };
}

#[derive(Schema)]
#[expect(dead_code, reason = "only described")]
struct Fields {
    a: u8,
}

#[derive(Schema)]
#[expect(dead_code, reason = "only described")]
struct Pair(u8, u8);

#[derive(Schema)]
struct Id(#[expect(dead_code, reason = "only described")] u64);

#[derive(Schema)]
struct Unit;

#[derive(Schema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only described")]
enum Tagged {
    A { a: u8 },
}

#[derive(Schema)]
#[schema(kind = "string")]
struct Declared(#[expect(dead_code, reason = "only described")] u64);

#[derive(Schema)]
struct Text(#[expect(dead_code, reason = "only described")] String);

#[derive(Schema)]
enum Word {
    A,
}

read_from_text! {
    Fields => Self { a: 1 };
    Pair => Self(1, 2);
    Id => Self(1);
    Unit => Self;
    Tagged => Self::A { a: 1 };
    Declared => Self(1);
    Text => Self(String::new());
    Word => Self::A;
}

#[test]
fn a_type_that_serde_reads_from_another_kind_is_a_configuration_error() {
    let message = |error: stockade_errors::ConfigError| error.issues()[0].message().to_owned();
    let expected = |kind: &str| {
        format!(
            "serde reads this type from string, but its derived schema describes {kind}: add \
             `#[schema(with = \"…\")]` to the type, or implement `HasSchema` by hand"
        )
    };
    for (schema, name, kind) in [
        (Fields::schema(), "Fields", "object"),
        (Pair::schema(), "Pair", "array"),
        (Id::schema(), "Id", "number"),
        (Unit::schema(), "Unit", "null"),
        (Tagged::schema(), "Tagged", "object"),
    ] {
        let message = message(schema.unwrap_err());
        assert!(message.ends_with(&expected(kind)), "{name}: {message}");
    }
    Declared::schema().unwrap();
    Text::schema().unwrap();
    Word::schema().unwrap();
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(default)]
struct Defaulted(u8, u8);

impl Default for Defaulted {
    fn default() -> Self {
        Self(7, 8)
    }
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[expect(dead_code, reason = "not on the wire")]
struct Trailing(u8, #[serde(default)] String, #[serde(default = "nine")] u8, #[serde(skip)] u8);

fn nine() -> u8 {
    9
}

#[derive(Debug, Deserialize, Serialize, Schema)]
enum Holder {
    Tuple(u8, #[serde(default)] u8),
}

#[test]
fn elements_of_a_tuple_with_a_default_may_be_absent() {
    reads::<Defaulted>(
        &[json!([]), json!([1]), json!([1, 2])],
        &[json!([1, 2, 3]), json!([null]), json!(["a"])],
    );
    writes(&Defaulted(1, 2), &json!([1, 2]));
    reads::<Trailing>(
        &[json!([1]), json!([1, "a"]), json!([1, "a", 2])],
        &[json!([]), json!([1, 2]), json!([1, "a", 2, 3])],
    );
    writes(&Trailing(1, String::new(), 2, 3), &json!([1, "", 2]));
    reads::<Holder>(
        &[json!({ "Tuple": [1] }), json!({ "Tuple": [1, 2] })],
        &[json!({ "Tuple": [] }), json!("Tuple")],
    );
    writes(&Holder::Tuple(1, 2), &json!({ "Tuple": [1, 2] }));
    let replies = Trailing::reply_schema().unwrap().to_json_schema();
    assert_eq!(replies["minItems"], 3);
}

#[derive(Debug, Deserialize, Serialize, Schema)]
enum Skipping {
    Both(#[serde(skip)] u8),
    Read(#[serde(skip_serializing)] u8),
    Written(#[serde(skip_deserializing)] u8),
    Kept(u8),
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(tag = "t")]
enum SkippingWithTag {
    Both(#[serde(skip)] u8),
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum SkippingWithContent {
    Both(#[serde(skip)] u8),
}

#[derive(Debug, Deserialize, Serialize, Schema)]
enum OnlyNames {
    A(#[serde(skip)] u8),
    B,
}

#[test]
fn a_variant_whose_only_field_is_skipped_is_a_name() {
    reads::<Skipping>(
        &[json!("Both"), json!({ "Read": 1 }), json!("Written"), json!({ "Kept": 1 })],
        &[json!({ "Both": 1 }), json!("Read"), json!({ "Written": 1 }), json!("Kept")],
    );
    writes(&Skipping::Both(1), &json!("Both"));
    writes(&Skipping::Read(1), &json!("Read"));
    writes(&Skipping::Written(1), &json!({ "Written": 1 }));
    writes(&Skipping::Kept(1), &json!({ "Kept": 1 }));
    reads::<SkippingWithTag>(&[json!({ "t": "Both" })], &[json!("Both"), json!({ "t": "x" })]);
    writes(&SkippingWithTag::Both(1), &json!({ "t": "Both" }));
    // serde cannot read its own output here.
    reads::<SkippingWithContent>(
        &[json!({ "t": "Both", "c": null })],
        &[json!({ "t": "Both" }), json!({ "t": "Both", "c": 1 })],
    );
    writes(&SkippingWithContent::Both(1), &json!({ "t": "Both" }));
    reads::<OnlyNames>(&[json!("A"), json!("B")], &[json!({ "A": 1 }), json!("C")]);
    writes(&OnlyNames::A(1), &json!("A"));
}

/// A pair of functions for the attribute `with`.
mod as_list {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        [7].serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<(), D::Error> {
        <[u8; 1]>::deserialize(reader).map(|_| ())
    }
}

#[derive(Debug, Deserialize, Serialize, Schema)]
enum WithFunctions {
    #[serde(with = "as_list")]
    Both,
    #[serde(serialize_with = "as_list::serialize")]
    Written,
    #[serde(deserialize_with = "as_list::deserialize")]
    Read,
}

#[test]
fn a_unit_variant_read_by_a_function_has_content() {
    reads::<WithFunctions>(
        &[json!({ "Both": [1] }), json!("Written"), json!({ "Read": [1] })],
        &[json!("Both"), json!({ "Written": [1] }), json!("Read")],
    );
    writes(&WithFunctions::Both, &json!({ "Both": [7] }));
    writes(&WithFunctions::Written, &json!({ "Written": [7] }));
    writes(&WithFunctions::Read, &json!("Read"));
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "kebab-case"))]
#[serde(rename_all_fields(serialize = "camelCase", deserialize = "PascalCase"))]
enum TwoNames {
    FirstOne {
        some_field: u8,
    },
    #[serde(rename(serialize = "out", deserialize = "in"), alias = "inside")]
    Second,
}

#[test]
fn uses_the_names_of_each_direction() {
    reads::<TwoNames>(
        &[json!({ "first-one": { "SomeField": 1 } }), json!("in"), json!("inside")],
        &[json!({ "FIRSTONE": { "someField": 1 } }), json!("out")],
    );
    writes(&TwoNames::FirstOne { some_field: 1 }, &json!({ "FIRSTONE": { "someField": 1 } }));
    writes(&TwoNames::Second, &json!("out"));
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
enum Closed {
    Unit,
    Newtype(u8),
    Struct { a: u8 },
}

#[test]
fn names_an_unknown_field_next_to_an_adjacent_tag() {
    reads::<Closed>(
        &[
            json!({ "t": "Unit" }),
            json!({ "t": "Newtype", "c": 1 }),
            json!({ "c": { "a": 1 }, "t": "Struct" }),
        ],
        &[
            json!({ "t": "Newtype", "c": 1, "x": 1 }),
            json!({ "x": 1, "t": "Unit" }),
            json!({ "t": "Struct", "c": { "a": 1, "x": 1 } }),
        ],
    );
    writes(&Closed::Newtype(1), &json!({ "t": "Newtype", "c": 1 }));
    let data = json!({ "t": "Newtype", "c": 1, "x": 1 });
    let schema = Closed::schema().unwrap();
    let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
    let shown: Vec<_> = errors.iter().map(|error| (&*error.field, &*error.message)).collect();
    assert_eq!(shown, [("x", "Unknown field 'x'")]);
    // The type reports the same error if it is read without the schema.
    let error = stockade_validation::read_value::<Closed>(&data).unwrap_err();
    let stockade_validation::ReadError::Invalid(errors) = error else { panic!("{error}") };
    let shown: Vec<_> = errors.iter().map(|error| (&*error.field, &*error.message)).collect();
    assert_eq!(shown, [("x", "Unknown field 'x'")]);
}

mod foreign {
    #[derive(Debug)]
    pub(super) struct Money {
        pub(super) cents: u64,
    }
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(remote = "foreign::Money", expecting = "money", bound = "")]
struct MoneyForm {
    #[serde(getter = "cents_of")]
    cents: u64,
}

fn cents_of(money: &foreign::Money) -> u64 {
    money.cents
}

impl From<MoneyForm> for foreign::Money {
    fn from(form: MoneyForm) -> Self {
        Self { cents: form.cents }
    }
}

#[derive(Debug, Deserialize, Serialize, Schema)]
struct Price {
    #[serde(with = "MoneyForm")]
    #[schema(with = "MoneyForm::rule")]
    money: foreign::Money,
}

#[test]
fn a_remote_definition_describes_the_type() {
    reads::<Price>(
        &[json!({ "money": { "cents": 1 } })],
        &[json!({ "money": 1 }), json!({ "money": { "cents": "1" } }), json!({})],
    );
    writes(&Price { money: foreign::Money { cents: 5 } }, &json!({ "money": { "cents": 5 } }));
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(transparent)]
struct Wrapped<T> {
    #[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
    inner: T,
    #[serde(skip)]
    marker: std::marker::PhantomData<T>,
}

#[derive(Clone, Debug, Deserialize, Serialize, Schema)]
#[serde(from = "u8", into = "String")]
struct Converted(u8);

impl From<u8> for Converted {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<Converted> for String {
    fn from(converted: Converted) -> Self {
        converted.0.to_string()
    }
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(tag = "type", rename = "box")]
struct WithTag {
    #[serde(flatten)]
    inner: Inner,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_deserializing)]
    written: u8,
    #[serde(skip_serializing, default)]
    #[expect(dead_code, reason = "only read by serde")]
    read: u8,
}

#[derive(Debug, Deserialize, Serialize, Schema)]
struct Inner {
    size: u8,
}

#[test]
fn supports_other_attributes_of_structs() {
    reads::<Wrapped<u8>>(&[json!(1)], &[json!({ "inner": 1 }), json!("1")]);
    writes(&Wrapped { inner: 1_u8, marker: std::marker::PhantomData }, &json!(1));
    reads::<Converted>(&[json!(1)], &[json!("1"), json!([1])]);
    writes(&Converted(1), &json!("1"));
    reads::<WithTag>(
        &[json!({ "size": 1 }), json!({ "size": 1, "note": null, "read": 2, "type": "any" })],
        &[json!({ "size": "1" }), json!({ "note": "a" }), json!({ "size": 1, "read": "2" })],
    );
    let value = WithTag { inner: Inner { size: 1 }, note: None, written: 2, read: 3 };
    writes(&value, &json!({ "type": "box", "size": 1, "written": 2 }));
}
