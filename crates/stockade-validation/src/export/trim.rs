//! `trim` in documents, as a `pattern`.

use serde_json::{Map, Value, json};

use super::{count, takes};
use crate::node::{Node, kind};

/// Writes that white space around a text does not count for its least length.
/// `trim` removes the characters of `\s`.
pub(super) fn write(node: &Node, out: &mut Map<String, Value>) {
    let least = count(out, "minLength").unwrap_or(0);
    // No format takes white space alone.
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

/// The greatest length that a pattern repeats: some engines refuse large ones.
const LONGEST: usize = 500;
