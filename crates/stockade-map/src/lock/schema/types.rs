//! The types of the values that a schema accepts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The types of JSON. Integers are a separate type, which every schema that
/// accepts numbers also accepts.
const ALL: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A difference of types.
pub(super) enum Difference {
    /// The schemas have no type in common.
    Other,
    /// The old schema accepts all values.
    FromAny,
    /// The new schema accepts all values.
    ToAny,
    /// Some types are added or removed.
    Some { added: bool, removed: bool },
}

pub(super) fn compare(old: &Map<String, Value>, new: &Map<String, Value>) -> Difference {
    match (is_any(old), is_any(new)) {
        (true, false) => return Difference::FromAny,
        (false, true) => return Difference::ToAny,
        _ => {}
    }
    let (before, after) = (types_of(old), types_of(new));
    if before.is_disjoint(&after) {
        return Difference::Other;
    }
    Difference::Some { added: !after.is_subset(&before), removed: !before.is_subset(&after) }
}

/// Returns true for a schema that accepts every value.
fn is_any(schema: &Map<String, Value>) -> bool {
    schema.keys().all(|keyword| super::NOTES.contains(&keyword.as_str()) || keyword == "default")
}

/// Returns true if a schema may accept text.
pub(super) fn takes_text(schema: &Map<String, Value>) -> bool {
    types_of(schema).contains("string")
}

pub(super) fn types_of(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let mut types: BTreeSet<&str> = match schema.get("type") {
        Some(Value::String(one)) => BTreeSet::from([one.as_str()]),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => ALL.into(),
    };
    if types.contains("number") {
        types.insert("integer");
    }
    types
}
