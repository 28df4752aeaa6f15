//! The types of values that a schema takes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The types of JSON. Whole numbers are one of their own, which every schema that
/// takes numbers takes too.
const ALL: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A difference of types.
pub(super) enum Difference {
    /// No type is in both.
    Other,
    /// All values did fit.
    FromAny,
    /// All values fit now.
    ToAny,
    /// Some types are new, or gone.
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

/// Returns true for a schema that every value fits.
fn is_any(schema: &Map<String, Value>) -> bool {
    schema.keys().all(|keyword| super::NOTES.contains(&keyword.as_str()) || keyword == "default")
}

/// Returns true if texts may fit.
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
