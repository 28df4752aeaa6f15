//! JSON Patch.
//!
//! Source: RFC 6902.

use std::borrow::Cow;

use json_patch::jsonptr::{Pointer, PointerBuf};
use json_patch::{AddOperation, PatchErrorKind, PatchOperation, patch_unsafe};
use serde_json::Value;
use stockade_errors::{ApiError, ErrorText};
use stockade_validation::__internal::equal;
use stockade_validation::marks::{Marks, is_origin, remove_origins};

use crate::failure::invalid;

/// A list of operations, which run in order.
pub(super) struct JsonPatch {
    operations: Vec<PatchOperation>,
    /// The maximum size of an item as JSON, in bytes.
    max_size: u64,
}

/// The maximum number of operations.
const MAX_OPERATIONS: usize = 100;

/// The maximum depth of an item, which is the limit of serde_json.
const MAX_DEPTH: usize = 127;

impl JsonPatch {
    /// Parses the operations of a patch.
    pub(super) fn of(patch: Value, max_size: u64) -> Result<Self, ApiError> {
        let Value::Array(operations) = patch else {
            let text = ErrorText::new("patch-list", "A JSON patch must be a list");
            return Err(invalid("", text, "type"));
        };
        if operations.len() > MAX_OPERATIONS {
            let message = format!("A patch must have at most {MAX_OPERATIONS} operations");
            let text = ErrorText::new("patch-operations", message);
            return Err(invalid("", text.param("limit", MAX_OPERATIONS), "maxItems"));
        }
        let operation = |(index, mut operation): (usize, Value)| {
            remove_origins(&mut operation);
            let text = || ErrorText::new("patch-operation", "Must be an operation of RFC 6902");
            serde_json::from_value(operation)
                .map_err(|_| invalid(format!("[{index}]"), text(), "patch"))
        };
        let operations = operations.into_iter().enumerate().map(operation);
        Ok(Self { operations: operations.collect::<Result<_, _>>()?, max_size })
    }

    /// Applies the operations to an item without its hidden values. The item is
    /// unusable if one of them fails. If an operation removes a hidden value,
    /// it is also removed from `stored`.
    pub(super) fn apply(
        &self,
        item: &mut Value,
        stored: &mut Value,
        is_hidden: IsHidden<'_>,
    ) -> Result<(), ApiError> {
        let mut plain = item.clone();
        remove_origins(&mut plain);
        let mut size = size_of(&plain)?;
        for (index, operation) in self.operations.iter().enumerate() {
            let field = || format!("[{index}]");
            let no_place = || {
                let text = ErrorText::new("patch-place", "The item does not have this location");
                invalid(field(), text, "patch")
            };
            if names_origin(operation) {
                return Err(no_place());
            }
            if let Some(place) = removed(operation)
                && is_hidden(item, place)
            {
                let steps: Vec<_> = place.tokens().map(|it| it.decoded().into_owned()).collect();
                Marks::forget(stored, item, steps.iter().map(String::as_str));
                if matches!(operation, PatchOperation::Remove(_)) && place.resolve(item).is_err() {
                    // The response must not reveal whether the hidden value
                    // exists.
                    continue;
                }
            }
            let operation = &*prepared(operation, item, is_hidden);
            if let PatchOperation::Test(test) = operation
                && let Ok(value) = test.path.resolve(item)
                && is_equal(value, &test.value)
            {
                // The library treats 2 and 2.0 as different values.
                continue;
            }
            if let Some((value, place)) = added(operation, item) {
                // Each copy may double the item, so its size is counted before
                // the copy. Removals do not reduce the count.
                size += size_of(value)?;
                if size > self.max_size {
                    return Err(ApiError::new(413, "The patch makes the item too large"));
                }
                if place.count() + depth_of(value) > MAX_DEPTH {
                    let text = ErrorText::new("patch-depth", "The item is nested too deeply");
                    return Err(invalid(field(), text, "patch"));
                }
            }
            patch_unsafe(item, std::slice::from_ref(operation)).map_err(|error| {
                match error.kind {
                    PatchErrorKind::TestFailed => {
                        ApiError::conflict().with_message("A test of the patch has failed")
                    }
                    _ => no_place(),
                }
            })?;
        }
        Ok(())
    }
}

/// A function that returns true if a position in an item is hidden.
pub(super) type IsHidden<'f> = &'f dyn Fn(&Value, &Pointer) -> bool;

/// Returns the position of the value that an operation removes.
fn removed(operation: &PatchOperation) -> Option<&Pointer> {
    match operation {
        PatchOperation::Remove(remove) => Some(&remove.path),
        PatchOperation::Move(moved) => Some(&moved.from),
        _ => None,
    }
}

/// Returns true if an operation accesses the internal member that holds an
/// origin. This member is not part of the item.
fn names_origin(operation: &PatchOperation) -> bool {
    let (path, from) = match operation {
        PatchOperation::Add(add) => (&add.path, None),
        PatchOperation::Remove(remove) => (&remove.path, None),
        PatchOperation::Replace(replace) => (&replace.path, None),
        PatchOperation::Move(moved) => (&moved.path, Some(&moved.from)),
        PatchOperation::Copy(copy) => (&copy.path, Some(&copy.from)),
        PatchOperation::Test(test) => (&test.path, None),
    };
    let mut tokens = path.tokens().chain(from.into_iter().flat_map(|from| from.tokens()));
    tokens.any(|token| is_origin(&token.decoded()))
}

/// Returns the operation in the form to apply:
///
/// - Replacing a hidden member adds it, because the patch does not see it.
/// - A copy adds the value without its origins, because it is a new value.
fn prepared<'p>(
    operation: &'p PatchOperation,
    item: &Value,
    is_hidden: IsHidden<'_>,
) -> Cow<'p, PatchOperation> {
    let add = |path: &PointerBuf, value: Value| {
        Cow::Owned(PatchOperation::Add(AddOperation { path: path.clone(), value }))
    };
    match operation {
        PatchOperation::Replace(replace)
            if is_in_object(&replace.path, item) && is_hidden(item, &replace.path) =>
        {
            add(&replace.path, replace.value.clone())
        }
        PatchOperation::Copy(copy) => match copy.from.resolve(item) {
            Ok(value) => {
                let mut value = value.clone();
                remove_origins(&mut value);
                add(&copy.path, value)
            }
            Err(_) => Cow::Borrowed(operation),
        },
        operation => Cow::Borrowed(operation),
    }
}

/// Returns true if a position is a member of an object.
fn is_in_object(place: &Pointer, item: &Value) -> bool {
    let parent = place.parent().and_then(|parent| parent.resolve(item).ok());
    parent.is_some_and(Value::is_object)
}

/// Returns true if a value of the item, without its origins, equals another
/// value.
fn is_equal(value: &Value, other: &Value) -> bool {
    let mut value = value.clone();
    remove_origins(&mut value);
    equal(&value, other)
}

/// Returns the value that an operation adds, and its position.
fn added<'v>(operation: &'v PatchOperation, item: &'v Value) -> Option<(&'v Value, &'v Pointer)> {
    match operation {
        PatchOperation::Add(add) => Some((&add.value, &add.path)),
        PatchOperation::Replace(replace) => Some((&replace.value, &replace.path)),
        PatchOperation::Copy(copy) => Some((copy.from.resolve(item).ok()?, &copy.path)),
        PatchOperation::Move(moved) => Some((moved.from.resolve(item).ok()?, &moved.path)),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => None,
    }
}

fn size_of(value: &Value) -> Result<u64, ApiError> {
    let text = serde_json::to_vec(value).map_err(ApiError::internal)?;
    Ok(text.len() as u64)
}

/// Returns the depth of a value, which is bounded in each item and patch.
fn depth_of(value: &Value) -> usize {
    match value {
        // An empty list does not have a nested level.
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(items) => 1 + items.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apply(item: &Value, patch: Value, max_size: u64) -> Result<Value, ApiError> {
        apply_to(&mut item.clone(), item, patch, max_size)
    }

    fn apply_to(
        stored: &mut Value,
        item: &Value,
        patch: Value,
        max_size: u64,
    ) -> Result<Value, ApiError> {
        let mut item = item.clone();
        let is_hidden = |_: &Value, place: &Pointer| place.as_str() == "/key";
        JsonPatch::of(patch, max_size)?.apply(&mut item, stored, &is_hidden)?;
        Ok(item)
    }

    #[track_caller]
    fn check(item: &Value, patch: Value, max_size: u64, status: u16) {
        assert_eq!(apply(item, patch, max_size).unwrap_err().status(), status);
    }

    #[test]
    fn a_patch_is_bounded() {
        let copy = json!({ "op": "copy", "from": "/a", "path": "/a/-" });
        let item = json!({ "a": ["x"] });
        check(&item, Value::Array(vec![copy.clone(); 101]), u64::MAX, 400);
        // Each copy adds the list to itself. Twenty-five copies would turn one
        // byte into 32 MiB.
        check(&item, Value::Array(vec![copy.clone(); 25]), 1_000, 413);
        assert!(apply(&item, Value::Array(vec![copy; 5]), 1_000).is_ok());
        let mut deep = json!(0);
        for _ in 0..60 {
            deep = json!([deep]);
        }
        let place = |levels: usize| format!("/a{}", "/0".repeat(levels));
        let add = |levels| json!([{ "op": "add", "path": place(levels), "value": deep }]);
        let item = apply(&item, add(1), 9_999).unwrap();
        let item = apply(&item, add(60), 9_999).unwrap();
        check(&item, add(110), 9_999, 400);
    }

    #[test]
    fn test_compares_numbers_by_value() {
        let item = json!({ "a": [2, 0.5], "b": 10 });
        let test = |path: &str, value: Value| {
            let patch = json!([{ "op": "test", "path": path, "value": value }]);
            apply(&item, patch, 99).map_err(|error| error.status())
        };
        for (path, value) in [
            ("/b", json!(10.0)),
            ("/b", json!(10)),
            ("/a", json!([2.0, 0.5])),
            ("", json!({ "b": 1e1, "a": [2, 0.5] })),
        ] {
            assert_eq!(test(path, value), Ok(item.clone()), "{path}");
        }
        for (path, value) in [("/b", json!(10.5)), ("/b", json!("10")), ("/a", json!([2]))] {
            assert_eq!(test(path, value), Err(409), "{path}");
        }
    }

    #[test]
    fn a_hidden_field_is_set_and_removed_and_never_read() {
        let item = json!({ "a": 1 });
        let operations = |operations: &[(&str, &str)]| {
            let one = |(op, path): &(&str, &str)| json!({ "op": op, "path": path, "from": "/key", "value": 7 });
            Value::Array(operations.iter().map(one).collect())
        };
        for (patch, expected, is_forgotten) in [
            (vec![("remove", "/key")], json!({ "a": 1 }), true),
            (vec![("replace", "/key")], json!({ "a": 1, "key": 7 }), false),
            (vec![("add", "/key"), ("remove", "/key")], json!({ "a": 1 }), true),
            (vec![("add", "/key"), ("move", "/a")], json!({ "a": 7 }), true),
            (vec![("replace", "/a")], json!({ "a": 7 }), false),
        ] {
            let patch = operations(&patch);
            let mut stored = json!({ "a": 1, "key": 5 });
            let changed = apply_to(&mut stored, &item, patch, 99).unwrap();
            assert_eq!((changed, stored.get("key").is_none()), (expected, is_forgotten));
        }
        for patch in [vec![("test", "/key")], vec![("copy", "/a")], vec![("remove", "/key/b")]] {
            check(&item, operations(&patch), 99, 400);
        }
    }

    #[test]
    fn a_failed_test_is_409_and_invalid_operations_are_named() {
        let item = json!({ "a": 1 });
        check(&item, json!([{ "op": "test", "path": "/a", "value": 2 }]), 99, 409);
        for patch in [
            json!({}),
            json!([7]),
            json!([{ "op": "drop", "path": "/a" }]),
            json!([{ "op": "add", "path": "a", "value": 1 }]),
            json!([{ "op": "remove", "path": "/b" }]),
            json!([{ "op": "add", "path": "/a/b/c", "value": 1 }]),
        ] {
            check(&item, patch, 99, 400);
        }
    }
}
