//! The text of a lock: JSON with sorted keys and one line for each small value,
//! which makes line diffs match the changes of the application.

use std::collections::BTreeMap;

use serde_json::Value;

/// The largest number of characters of a value on one line.
const WIDTH: usize = 100;

/// Returns a value as text, without a trailing newline.
pub(super) fn text_of(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let line = in_line(value);
    let is_small = depth > 1 && depth * 2 + line.chars().count() <= WIDTH;
    match value {
        Value::Object(object) if !object.is_empty() && !is_small => {
            let sorted: BTreeMap<&String, &Value> = object.iter().collect();
            let items = sorted.into_iter().map(|(key, value)| (Some(key.as_str()), value));
            block(['{', '}'], items, depth, out);
        }
        Value::Array(items) if !items.is_empty() && !is_small => {
            block(['[', ']'], items.iter().map(|item| (None, item)), depth, out);
        }
        _ => out.push_str(&line),
    }
}

fn block<'v>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = (Option<&'v str>, &'v Value)>,
    depth: usize,
    out: &mut String,
) {
    out.push(open);
    for (index, (key, value)) in items.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&Value::from(key).to_string());
            out.push_str(": ");
        }
        write(value, depth + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

fn in_line(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let sorted: BTreeMap<&String, &Value> = object.iter().collect();
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), in_line(value))
            };
            let members: Vec<String> = sorted.into_iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_line).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sorts_keys_and_writes_small_values_inline() {
        let value = json!({ "b": { "y": { "d": 1, "c": [] }, "x": {} }, "a": [] });
        let expected =
            "{\n  \"a\": [],\n  \"b\": {\n    \"x\": {},\n    \"y\": {\"c\": [], \"d\": 1}\n  }\n}";
        assert_eq!(text_of(&value), expected);
        let long = json!([[["x".repeat(100)]]]);
        let back: Value = serde_json::from_str(&text_of(&long)).unwrap();
        assert_eq!((back, text_of(&long).lines().count()), (long, 7));
    }
}
