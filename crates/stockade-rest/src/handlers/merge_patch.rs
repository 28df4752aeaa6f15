//! JSON Merge Patch.
//!
//! Source: RFC 7396, section 2.

use serde_json::{Map, Value};

/// Applies a merge patch to a value.
pub(super) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.shift_remove(&name);
        } else {
            merge(target.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 7396, appendix A: original, patch, result.
    const EXAMPLES: [[&str; 3]; 15] = [
        [r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#],
        [r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#],
        [r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"],
        [r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#],
        [r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#],
        [r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#],
        [r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#],
        [r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#],
        [r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#],
        [r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#],
        [r#"{"a":"foo"}"#, "null", "null"],
        [r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#],
        [r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#],
        ["[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#],
        ["{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#],
    ];

    #[test]
    fn matches_the_examples_of_the_rfc() {
        for [original, patch, expected] in EXAMPLES {
            let mut value: Value = serde_json::from_str(original).unwrap();
            merge(&mut value, serde_json::from_str(patch).unwrap());
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(value, expected, "{original} {patch}");
        }
    }
}
