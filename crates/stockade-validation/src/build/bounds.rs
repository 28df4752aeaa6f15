//! Detection of contradictory keywords that would reject every value.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::keyword::{PAIRS, Pair};
use crate::node::{Node, Types, kind};
use crate::number::{Num, shown};

/// Returns an error for each pair of contradictory bounds in `keywords`.
pub(crate) fn contradictions<'k>(
    keywords: &'k Map<String, Value>,
    types: &'k Types,
) -> impl Iterator<Item = String> + 'k {
    PAIRS.iter().filter_map(move |Pair { low, high, strict, types: only }| {
        if *only != 0 && (types.mask & !only != 0 || !types.has(*only)) {
            return None;
        }
        let low_bound = keywords.get(*low)?.as_number()?;
        let high_bound = keywords.get(*high)?.as_number()?;
        contradict(low_bound, high_bound, *strict).then(|| {
            let relation = if *strict { "is not below" } else { "is above" };
            format!("`{low}` {} {relation} `{high}` {}", shown(low_bound), shown(high_bound))
        })
    })
}

/// Returns the errors of `enum` and `const` if none of the listed values has
/// the type of the node. Such a schema would reject every value.
pub(crate) fn foreign_literals(node: &Node) -> Vec<String> {
    if node.transform.is_some() {
        return Vec::new();
    }
    let types = &node.types;
    let fits = |value: &Value| {
        let kinds = match value {
            Value::Null => kind::NULL,
            Value::Bool(_) => kind::BOOLEAN,
            Value::Number(number) if Num::of(number).is_whole() => kind::NUMBER | kind::INTEGER,
            Value::Number(_) => kind::NUMBER,
            Value::String(_) => kind::STRING,
            Value::Array(_) => kind::ARRAY,
            Value::Object(_) => kind::OBJECT,
        };
        !types.given()
            || types.has(kinds)
            || value.is_string() && !types.formats.is_empty()
            || value.is_null() && node.nullable
    };
    let mut faults = Vec::new();
    match node.keywords.get("enum").and_then(Value::as_array) {
        // JSON Schema allows an empty list, which rejects every value.
        Some(values) if !values.is_empty() && !values.iter().any(fits) => {
            faults.push(format!("no value of `enum` has the type {}", types.expected));
        }
        _ => {}
    }
    if node.keywords.get("const").is_some_and(|constant| !fits(constant)) {
        faults.push(format!("`const` does not have the type {}", types.expected));
    }
    faults
}

fn contradict(low: &Number, high: &Number, strict: bool) -> bool {
    match Num::of(low).compare(Num::of(high)) {
        Ordering::Greater => true,
        Ordering::Equal => strict,
        Ordering::Less => false,
    }
}
