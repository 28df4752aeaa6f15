//! Exports `trim` as a `pattern`.

use serde_json::{Map, Value, json};

use super::{count, takes};
use crate::node::{Node, kind};

/// Adds a pattern that ignores surrounding white space in the minimum length of
/// a text. `trim` removes the characters of `\s`.
pub(super) fn write(node: &Node, out: &mut Map<String, Value>) {
    let least = count(out, "minLength").unwrap_or(0);
    // No format accepts a text of only white space.
    let has_format = out.contains_key("format");
    if !node.trim || least == 0 || has_format || !takes(&node.types, kind::STRING) {
        return;
    }
    let pattern = match least {
        2..=LONGEST => format!(r"\S[\s\S]{{{},}}\S", least - 2),
        _ => r"\S".to_owned(),
    };
    if !out.contains_key("pattern") {
        out.insert("pattern".to_owned(), pattern.into());
    } else if let Some(Value::Array(all)) = out.get_mut("allOf") {
        all.push(json!({ "pattern": pattern }));
    } else {
        out.insert("allOf".to_owned(), json!([{ "pattern": pattern }]));
    }
}

/// The maximum repetition count in a pattern. Some regex engines reject larger
/// counts.
const LONGEST: usize = 500;
