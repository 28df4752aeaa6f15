//! Differences between two JSON values.

use serde_json::Value;

use crate::redact::{REDACTED, is_secret};

/// The part of the actual value that is compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// The whole value.
    Whole,
    /// The expected members; objects may contain others. Arrays must have the
    /// same length.
    Part,
}

/// Returns a line for each difference, in the order of the expected value.
#[must_use]
pub fn differences(expected: &Value, actual: &Value, extent: Extent) -> Vec<String> {
    let mut lines = Vec::new();
    compare(expected, actual, extent, "$", false, &mut lines);
    lines
}

fn compare(
    expected: &Value,
    actual: &Value,
    extent: Extent,
    path: &str,
    secret: bool,
    lines: &mut Vec<String>,
) {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (name, value) in wanted {
                let path = format!("{path}.{name}");
                match found.get(name) {
                    Some(found) => {
                        compare(value, found, extent, &path, secret || is_secret(name), lines);
                    }
                    None => lines.push(format!("{path} is missing")),
                }
            }
            let unexpected = found.keys().filter(|name| !wanted.contains_key(*name));
            if extent == Extent::Whole {
                lines.extend(unexpected.map(|name| format!("{path}.{name} is unexpected")));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (index, (value, found)) in wanted.iter().zip(found).enumerate() {
                compare(value, found, extent, &format!("{path}[{index}]"), secret, lines);
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            lines.push(format!("{path} has {} items, not {}", found.len(), wanted.len()));
        }
        (wanted, found) if wanted != found && secret => {
            lines.push(format!("{path} differs: {REDACTED}"));
        }
        (wanted, found) if wanted != found => {
            lines.push(format!("{path} is {found}, not {wanted}"))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_difference_names_its_location() {
        #[track_caller]
        fn check(expected: &Value, actual: &Value, whole: &[&str], part: &[&str]) {
            assert_eq!(differences(expected, actual, Extent::Whole), whole);
            assert_eq!(differences(expected, actual, Extent::Part), part);
        }
        let one = &json!({ "a": 1 });
        let none = &json!({});
        check(&json!({ "a": 1, "b": [] }), &json!({ "b": [], "a": 1 }), &[], &[]);
        check(one, &json!({ "a": 2 }), &["$.a is 2, not 1"], &["$.a is 2, not 1"]);
        check(none, one, &["$.a is unexpected"], &[]);
        check(one, none, &["$.a is missing"], &["$.a is missing"]);
        check(&json!(["a"]), &json!([]), &["$ has 0 items, not 1"], &["$ has 0 items, not 1"]);
        check(&json!([{}]), &json!([{ "b": 2 }]), &["$[0].b is unexpected"], &[]);
        let hidden = "$.token differs: (redacted)";
        check(&json!({ "token": "x" }), &json!({ "token": "y" }), &[hidden], &[hidden]);
        check(&json!(1), &json!("1"), &["$ is \"1\", not 1"], &["$ is \"1\", not 1"]);
    }
}
