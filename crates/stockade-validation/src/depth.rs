//! The depth limit, which bounds every recursion over values.

use serde_json::Value;

/// The maximum nesting of a value or a schema; a scalar has depth 0.
pub(crate) const MAX_DEPTH: usize = 128;

/// Returns true if `value` is nested more than `levels` deep. Recurses at most
/// `levels` deep.
pub(crate) fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels == 0 || items.iter().any(|item| is_container(item) && exceeds(item, levels - 1))
        }
        Value::Object(map) => {
            levels == 0 || map.values().any(|item| is_container(item) && exceeds(item, levels - 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the number of values in `value` down to `levels`.
pub(crate) fn size(value: &Value, levels: usize) -> usize {
    if levels == 0 {
        return 1;
    }
    match value {
        Value::Array(items) => 1 + items.iter().map(|item| size(item, levels - 1)).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(|item| size(item, levels - 1)).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_containers_only() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        assert!(!exceeds(&json!(1), 0));
        assert!(exceeds(&json!([]), 0));
        assert!(!exceeds(&nested(128), MAX_DEPTH));
        assert!(exceeds(&nested(129), MAX_DEPTH));
        assert!(exceeds(&json!({ "a": 1, "b": { "c": [] } }), 2));
        assert!(!exceeds(&json!({ "a": 1, "b": { "c": [] } }), 3));
    }
}
