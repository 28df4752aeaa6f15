//! `Patch` and `Optional`: absent, null and value, without an attribute.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_validation::{HasSchema, Optional, Patch, Schema, ValidationOptions};

use crate::support::check_type;

#[derive(Clone, Debug, Deserialize, PartialEq, Schema)]
struct Change {
    id: u8,
    name: Optional<String>,
    #[schema(max_length = 3)]
    bio: Patch<String>,
    tags: Patch<Vec<u8>>,
    inner: Patch<Inner>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Schema)]
struct Inner {
    size: Patch<f64>,
    deep: Optional<Option<bool>>,
}

#[derive(Debug, Deserialize, PartialEq, Schema)]
struct Flat {
    #[serde(flatten)]
    change: Inner,
    more: Patch<Mode>,
}

#[derive(Debug, Deserialize, PartialEq, Schema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Slow,
}

#[derive(Debug, Deserialize, PartialEq, Schema)]
#[serde(tag = "op")]
enum Tagged {
    Set { to: Patch<u8> },
}

#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Written {
    #[serde(skip_serializing_if = "Patch::is_absent")]
    a: Patch<u8>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    b: Optional<u8>,
}

const ABSENT: Change = Change {
    id: 1,
    name: Optional::Absent,
    bio: Patch::Absent,
    tags: Patch::Absent,
    inner: Patch::Absent,
};

/// Reads with serde_json only, parsed and as text, and with the schema.
#[track_caller]
fn check<T>(data: &Value, expected: &T)
where
    T: HasSchema + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = data.to_string();
    assert_eq!(serde_json::from_value::<T>(data.clone()).unwrap(), *expected, "{text}");
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *expected, "{text}");
    assert_eq!(serde_json::from_reader::<_, T>(text.as_bytes()).unwrap(), *expected, "{text}");
    let read = |options: &ValidationOptions, text: &str| {
        T::schema().unwrap().read_json::<T>(text.as_bytes(), options).unwrap()
    };
    assert_eq!(read(&ValidationOptions::new(), &text), *expected, "{text}");
    // A text with a duplicate name uses the slow path, which reads parsed data.
    let twice = text.replacen('{', "{\"x\":1,\"x\":2,", 1).replace(",}", "}");
    assert_eq!(read(&ValidationOptions::new(), &twice), *expected, "{twice}");
}

#[test]
fn distinguishes_absent_null_and_value() {
    check(&json!({ "id": 1 }), &ABSENT);
    check(&json!({ "id": 1, "bio": null }), &Change { bio: Patch::Null, ..ABSENT });
    check(&json!({ "id": 1, "bio": "x" }), &Change { bio: Patch::Value("x".into()), ..ABSENT });
    check(&json!({ "id": 1, "name": "" }), &Change { name: Optional::Value("".into()), ..ABSENT });
    check(&json!({ "id": 1, "tags": [] }), &Change { tags: Patch::Value(vec![]), ..ABSENT });
    let inner = |size, deep| Change { inner: Patch::Value(Inner { size, deep }), ..ABSENT };
    check(&json!({ "id": 1, "inner": {} }), &inner(Patch::Absent, Optional::Absent));
    check(
        &json!({ "id": 1, "inner": { "size": 2.5, "deep": null } }),
        &inner(Patch::Value(2.5), Optional::Value(None)),
    );
    check(
        &json!({ "id": 1, "inner": { "size": null, "deep": true } }),
        &inner(Patch::Null, Optional::Value(Some(true))),
    );
}

#[test]
fn reads_flattened_and_tagged_fields() {
    let flat = |size, deep, more| Flat { change: Inner { size, deep }, more };
    check(&json!({}), &flat(Patch::Absent, Optional::Absent, Patch::Absent));
    check(
        &json!({ "size": null, "deep": null, "more": null }),
        &flat(Patch::Null, Optional::Value(None), Patch::Null),
    );
    check(
        &json!({ "size": 1.5, "more": "slow" }),
        &flat(Patch::Value(1.5), Optional::Absent, Patch::Value(Mode::Slow)),
    );
    check(&json!({ "op": "Set" }), &Tagged::Set { to: Patch::Absent });
    check(&json!({ "op": "Set", "to": null }), &Tagged::Set { to: Patch::Null });
    check(&json!({ "op": "Set", "to": 3 }), &Tagged::Set { to: Patch::Value(3) });
}

#[test]
fn the_schema_rejects_null_if_only_absence_is_allowed() {
    check_type::<Change>(
        &json!({ "id": 1, "name": null, "bio": "long", "tags": [null] }),
        &[
            "name: Expected string, got null (type)",
            "bio: String must be at most 3 characters (maxLength)",
            "tags[0]: Expected integer, got null (type)",
        ],
    );
    check_type::<Change>(&json!({}), &["id: Required field 'id' is missing (required)"]);
    let error = serde_json::from_str::<Change>(r#"{"id":1,"name":null}"#).unwrap_err();
    assert!(error.to_string().starts_with("invalid type: null, expected a string"), "{error}");
}

/// The content of a field may fail with the message that serde uses for
/// absence.
#[test]
fn a_missing_inner_field_is_not_absence() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Point {
        x: u8,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Move {
        to: Patch<Point>,
        by: Optional<Point>,
    }
    for text in [r#"{"to":{}}"#, r#"{"by":{}}"#, r#"{"to":{"#, r#"{"to":"#, r#"{"to":}"#] {
        assert!(serde_json::from_str::<Move>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Move>("{}").is_ok());
}

#[test]
fn the_exported_schema_contains_patch_fields() {
    let schema = Change::schema().unwrap().to_json_schema();
    assert_eq!(schema["required"], json!(["id"]));
    assert_eq!(schema["properties"]["name"]["type"], json!("string"));
    assert_eq!(schema["properties"]["bio"]["type"], json!(["string", "null"]));
    assert_eq!(schema["properties"]["bio"]["maxLength"], json!(3));
}

#[test]
fn an_absent_field_is_omitted_or_rejected_but_never_null() {
    let written = |a, b| serde_json::to_string(&Written { a, b }).unwrap();
    assert_eq!(written(Patch::Absent, Optional::Absent), "{}");
    assert_eq!(written(Patch::Null, Optional::Value(2)), r#"{"a":null,"b":2}"#);
    assert_eq!(written(Patch::Value(1), Optional::Absent), r#"{"a":1}"#);
    let error = serde_json::to_string(&Patch::<u8>::Absent).unwrap_err().to_string();
    assert!(error.contains("Patch::is_absent"), "{error}");
    assert!(serde_json::to_string(&Optional::<u8>::Absent).is_err());
}

#[test]
fn fields_with_a_custom_rule_may_be_absent() {
    #[derive(Deserialize, Schema)]
    #[expect(dead_code, reason = "only read")]
    struct Own {
        #[schema(with = "stockade_validation::Rule::string")]
        name: Optional<String>,
    }
    check_type::<Own>(&json!({}), &[]);
}

#[test]
fn changes_are_applied() {
    let mut target = Some(1);
    Patch::Absent.apply(&mut target);
    assert_eq!(target, Some(1));
    Patch::Value(2).apply(&mut target);
    assert_eq!(target, Some(2));
    Patch::Null.apply(&mut target);
    assert_eq!(target, None);

    let mut target = 1;
    Optional::Absent.apply(&mut target);
    assert_eq!(target, 1);
    Optional::Value(2).apply(&mut target);
    assert_eq!(target, 2);

    assert_eq!(Patch::from(Some(Some(1))).into_option(), Some(Some(1)));
    assert_eq!(Patch::Value(1).value(), Some(&1));
    assert_eq!(Optional::from(Some(1)).into_option(), Some(1));
    assert_eq!(Optional::Value(1).value(), Some(&1));
}
