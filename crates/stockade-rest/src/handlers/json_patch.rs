//! JSON patch.
//!
//! Source: RFC 6902.

use json_patch::jsonptr::Pointer;
use json_patch::{PatchErrorKind, PatchOperation, patch_unsafe};
use serde_json::Value;
use stockade_errors::ApiError;

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

    /// Applies the operations to an item, which is lost if one of them fails.
    pub(super) fn apply(&self, item: &mut Value) -> Result<(), ApiError> {
        let mut size = size_of(item)?;
        for (index, operation) in self.operations.iter().enumerate() {
            let field = || format!("[{index}]");
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
        JsonPatch::of(patch, max_size)?.apply(&mut item)?;
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
