//! Tests that deep and cyclic data is an error and never overflows the stack.
//!
//! The tests run on threads with a stack of 2 MiB, like many servers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stockade_errors::ApiError;
use stockade_serialization::{
    MAX_DEPTH, deserialize_from_json, serialize_for_json, serialize_map, serialize_set,
};

fn nested(levels: usize) -> Value {
    (0..levels).fold(
        json!(1),
        |value, level| {
            if level % 2 == 0 { json!([value]) } else { json!({ "a": value }) }
        },
    )
}

#[test]
fn writes_data_with_up_to_128_levels() {
    assert_eq!(serialize_for_json(&nested(MAX_DEPTH)).unwrap(), nested(MAX_DEPTH));
    let error = serialize_for_json(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(error.to_string(), "nested more than 128 levels");
    assert_eq!(ApiError::from(error).status(), 500);
    assert!(serialize_set(&[nested(MAX_DEPTH - 1)]).is_ok());
    assert!(serialize_set(&[nested(MAX_DEPTH)]).is_err());
    assert!(serialize_map(&BTreeMap::from([(1, nested(MAX_DEPTH))])).is_err());
    // The error has reset the nesting level.
    assert!(serialize_for_json(&nested(MAX_DEPTH)).is_ok());
}

#[test]
fn reads_data_with_up_to_128_levels() {
    assert!(deserialize_from_json::<Value>(nested(MAX_DEPTH)).is_ok());
    let error = deserialize_from_json::<Value>(nested(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(ApiError::from(error).status(), 400);
}

/// A value inside this number of nested arrays.
struct Around<'a, T>(usize, &'a T);

impl<T: Serialize> Serialize for Around<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => self.1.serialize(serializer),
            more => serializer.collect_seq([Self(more - 1, self.1)]),
        }
    }
}

#[test]
fn dates_do_not_add_a_level_but_embedded_json_does() {
    let date = SystemTime::UNIX_EPOCH;
    assert!(serialize_for_json(&Around(MAX_DEPTH, &date)).is_ok());
    let raw = RawValue::from_string(nested(100).to_string()).unwrap();
    assert!(serialize_for_json(&Around(28, &raw)).is_ok());
    assert!(serialize_for_json(&Around(29, &raw)).is_err());
}

#[derive(Deserialize, Serialize)]
struct Tree {
    #[serde(with = "stockade_serialization::map")]
    children: BTreeMap<u8, Self>,
}

/// A field that `map` writes starts another serializer, but the count
/// continues.
#[test]
fn counts_levels_of_nested_serializers() {
    let tree = |levels: usize| {
        let leaf = Tree { children: BTreeMap::new() };
        (0..levels).fold(leaf, |tree, _| Tree { children: BTreeMap::from([(1, tree)]) })
    };
    let value = serialize_for_json(&tree(63)).unwrap();
    assert!(deserialize_from_json::<Tree>(value.clone()).is_ok());
    assert!(serialize_for_json(&tree(64)).is_err());
    assert!(serde_json::to_value(tree(63)).is_ok());
    assert!(serde_json::to_value(tree(1_000)).is_err());
    let deeper = json!({ "children": { "1": value } });
    assert!(deserialize_from_json::<Tree>(deeper).is_err());
}

/// A link of a cyclic list, which contains the next link in this form.
struct Cycle {
    next: RefCell<Option<Rc<Self>>>,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Item,
    Field,
    Some,
    Newtype,
    Variant,
    Key,
}

impl Serialize for Cycle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let next = self.next.borrow();
        let next = next.as_deref().unwrap();
        match self.form {
            Form::Item => serializer.collect_seq([next]),
            Form::Field => serializer.collect_map([("next", next)]),
            Form::Some => serializer.serialize_some(next),
            Form::Newtype => serializer.serialize_newtype_struct("Cycle", next),
            Form::Variant => serializer.serialize_newtype_variant("Cycle", 0, "Next", next),
            Form::Key => serializer.collect_map([(next, 1)]),
        }
    }
}

/// Checks that a cycle of links in these forms is an error. The last link
/// refers to the first.
#[track_caller]
fn check_cycle(forms: &[Form]) {
    let links = forms.iter().map(|form| Rc::new(Cycle { next: RefCell::new(None), form: *form }));
    let links: Vec<_> = links.collect();
    for (link, next) in links.iter().zip(links.iter().cycle().skip(1)) {
        link.next.replace(Some(next.clone()));
    }
    let error = serialize_for_json(&links[0].as_ref()).unwrap_err();
    assert_eq!(error.to_string(), "nested more than 128 levels");
    // Break the cycle to free it.
    links[0].next.take();
}

#[test]
fn a_cycle_is_an_error() {
    check_cycle(&[Form::Item]);
    check_cycle(&[Form::Field]);
    check_cycle(&[Form::Some]);
    check_cycle(&[Form::Newtype]);
    check_cycle(&[Form::Variant]);
    check_cycle(&[Form::Key]);
}

/// The worst case: all levels, and all wrappers that do not appear in JSON.
#[test]
fn a_cycle_of_all_forms_is_an_error() {
    check_cycle(&[Form::Some, Form::Newtype, Form::Key]);
    check_cycle(&[Form::Newtype, Form::Some, Form::Field]);
}

/// A map that is the key of another map becomes a nested string. Each level
/// doubles the backslashes.
#[test]
fn keys_of_keys_do_not_grow_without_bound() {
    struct Keys(usize);

    impl Serialize for Keys {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                0 => serializer.serialize_u8(1),
                more => serializer.collect_map([(Self(more - 1), 1)]),
            }
        }
    }

    let text = serialize_for_json(&Keys(4)).unwrap().to_string();
    assert_eq!(text, r#"{"{\"{\\\"{\\\\\\\"1\\\\\\\":1}\\\":1}\":1}":1}"#);
    assert!(serialize_for_json(&Keys(129)).is_err());
}
