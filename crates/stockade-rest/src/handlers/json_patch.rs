//! JSON patch.
//!
//! Source: RFC 6902.

use std::borrow::Cow;

use json_patch::jsonptr::Pointer;
use json_patch::{AddOperation, PatchErrorKind, PatchOperation, patch_unsafe};
use serde_json::Value;
use stockade_errors::ApiError;
use stockade_validation::__internal::equal;

use crate::failure::invalid;

/// A list of operations, carried out one after the other.
pub(super) struct JsonPatch {
    operations: Vec<PatchOperation>,
    /// The largest size of an item as JSON, in bytes.
    max_size: u64,
}

/// The largest number of operations.
const MAX_OPERATIONS: usize = 100;

/// The number of levels of an item, which serde_json reads at most.
const MAX_DEPTH: usize = 127;

impl JsonPatch {
    /// Reads the operations of a patch.
    pub(super) fn of(patch: Value, max_size: u64) -> Result<Self, ApiError> {
        let Value::Array(operations) = patch else {
            return Err(invalid("", "A JSON patch is a list", "type"));
        };
        if operations.len() > MAX_OPERATIONS {
            let message = format!("A patch has at most {MAX_OPERATIONS} operations");
            return Err(invalid("", message, "maxItems"));
        }
        let operation = |(index, operation): (usize, Value)| {
            let message = "Must be an operation of RFC 6902";
            serde_json::from_value(operation)
                .map_err(|_| invalid(format!("[{index}]"), message, "patch"))
        };
        let operations = operations.into_iter().enumerate().map(operation);
        Ok(Self { operations: operations.collect::<Result<_, _>>()?, max_size })
    }

    /// Applies the operations to an item without its hidden fields, which is lost if one
    /// of them fails.
    pub(super) fn apply(&self, item: &mut Value, hidden: &[String]) -> Result<(), ApiError> {
        let mut size = size_of(item)?;
        for (index, operation) in self.operations.iter().enumerate() {
            let field = || format!("[{index}]");
            if is_absent_hidden(operation, item, hidden) {
                // Nobody is told if there is a value to remove.
                continue;
            }
            let operation = &*with_hidden_place(operation, hidden);
            if let PatchOperation::Test(test) = operation
                && test.path.resolve(item).is_ok_and(|value| equal(value, &test.value))
            {
                // The library takes 2 and 2.0 for different values.
                continue;
            }
            if let Some((value, place)) = added(operation, item) {
                // Each copy may double the item: so it is counted before it is made, as if
                // nothing were ever removed.
                size += size_of(value)?;
                if size > self.max_size {
                    return Err(ApiError::new(413, "The patch makes the item too large"));
                }
                if place.count() + depth_of(value) > MAX_DEPTH {
                    return Err(invalid(field(), "The item is nested too deeply", "patch"));
                }
            }
            patch_unsafe(item, std::slice::from_ref(operation)).map_err(|error| {
                match error.kind {
                    PatchErrorKind::TestFailed => {
                        ApiError::conflict().with_message("A test of the patch has failed")
                    }
                    _ => invalid(field(), "There is no such place in the item", "patch"),
                }
            })?;
        }
        Ok(())
    }

    /// Returns true if an operation sets or removes a field of the item, or a part of it.
    pub(super) fn changes(&self, name: &str) -> bool {
        let is_of = |place: &Pointer| place.first().is_some_and(|it| it.decoded() == name);
        self.operations.iter().any(|operation| match operation {
            PatchOperation::Add(add) => is_of(&add.path),
            PatchOperation::Remove(remove) => is_of(&remove.path),
            PatchOperation::Replace(replace) => is_of(&replace.path),
            PatchOperation::Move(moved) => is_of(&moved.path) || is_of(&moved.from),
            PatchOperation::Copy(copy) => is_of(&copy.path),
            PatchOperation::Test(_) => false,
        })
    }
}

/// Returns true for the removal of a hidden field to which no operation has given a
/// value.
fn is_absent_hidden(operation: &PatchOperation, item: &Value, hidden: &[String]) -> bool {
    match operation {
        PatchOperation::Remove(remove) => {
            is_one_of(&remove.path, hidden) && remove.path.resolve(item).is_err()
        }
        _ => false,
    }
}

/// Returns an operation that replaces a hidden field as one that adds it: the patch does
/// not see it.
fn with_hidden_place<'p>(
    operation: &'p PatchOperation,
    hidden: &[String],
) -> Cow<'p, PatchOperation> {
    match operation {
        PatchOperation::Replace(replace) if is_one_of(&replace.path, hidden) => {
            let (path, value) = (replace.path.clone(), replace.value.clone());
            Cow::Owned(PatchOperation::Add(AddOperation { path, value }))
        }
        operation => Cow::Borrowed(operation),
    }
}

/// Returns true if a place is that of one of these fields.
fn is_one_of(place: &Pointer, names: &[String]) -> bool {
    let name = place.first().filter(|_| place.count() == 1);
    name.is_some_and(|name| names.iter().any(|known| name.decoded() == *known))
}

/// Returns the value that an operation adds, and its place.
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

/// Returns the number of levels of a value, which is bounded in each item and patch.
fn depth_of(value: &Value) -> usize {
    match value {
        // A list that is empty has no level below.
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
        let mut item = item.clone();
        JsonPatch::of(patch, max_size)?.apply(&mut item, &["key".to_owned()])?;
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
        // Twenty-five copies of the whole would make 32 MiB of a byte.
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
    fn a_test_takes_numbers_by_their_value() {
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
        for (patch, expected, changes) in [
            (vec![("remove", "/key")], json!({ "a": 1 }), true),
            (vec![("replace", "/key")], json!({ "a": 1, "key": 7 }), true),
            (vec![("add", "/key"), ("remove", "/key")], json!({ "a": 1 }), true),
            (vec![("add", "/key"), ("move", "/a")], json!({ "a": 7 }), true),
            (vec![("replace", "/a")], json!({ "a": 7 }), false),
        ] {
            let patch = operations(&patch);
            let read = JsonPatch::of(patch.clone(), 99).unwrap();
            assert_eq!(
                (apply(&item, patch, 99).unwrap(), read.changes("key")),
                (expected, changes)
            );
        }
        for patch in [vec![("test", "/key")], vec![("copy", "/a")], vec![("remove", "/key/b")]] {
            check(&item, operations(&patch), 99, 400);
        }
    }

    #[test]
    fn a_failed_test_is_a_conflict_and_a_wrong_operation_is_named() {
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
