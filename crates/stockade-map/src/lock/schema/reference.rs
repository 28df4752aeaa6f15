//! References to named schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::schemas::schema_name;

/// A schema without references at its top.
pub(in crate::lock) enum Resolved {
    Known(Map<String, Value>),
    /// The reference is invalid or refers to itself.
    Unknown,
}

/// The longest chain of references.
const LONGEST: usize = 32;

/// Follows the references of a schema. Keywords next to a reference replace the
/// keywords of its target.
pub(in crate::lock) fn resolve(schemas: &BTreeMap<String, Value>, schema: &Value) -> Resolved {
    let mut own = without_reference(schema);
    let mut next = schema;
    for _ in 0..LONGEST {
        if next.get("$ref").is_none() {
            return Resolved::Known(own);
        }
        let Some(target) = schema_name(next).and_then(|name| schemas.get(name)) else {
            return Resolved::Unknown;
        };
        for (keyword, value) in without_reference(target) {
            own.entry(keyword).or_insert(value);
        }
        next = target;
    }
    Resolved::Unknown
}

/// Returns the keywords of a schema except its reference.
pub(super) fn without_reference(schema: &Value) -> Map<String, Value> {
    match schema {
        Value::Object(object) => {
            let mut object = object.clone();
            object.shift_remove("$ref");
            object
        }
        // No value is valid.
        Value::Bool(false) => Map::from_iter([("enum".to_owned(), json!([]))]),
        _ => Map::new(),
    }
}

/// Returns true if a schema refers to another schema.
pub(super) fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.contains_key("$ref") || object.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}
