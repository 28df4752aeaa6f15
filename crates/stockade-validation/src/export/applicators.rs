//! Exports the applicator keywords.

use serde_json::{Map, Value, json};

use super::{Context, rule};
use crate::node::{AdditionalRule, Applicators, Node, kind};

/// Adds the applicator keywords.
pub(super) fn applicators(node: &Node, context: Context<'_>, out: &mut Map<String, Value>) {
    let closes = context.closed
        && node.object.as_deref().map_or_else(
            || node.applicators.as_deref().is_some_and(Applicators::lists_keys),
            |rules| matches!(rules.additional, AdditionalRule::Elsewhere),
        )
        && node.types.take(kind::OBJECT);
    if closes {
        out.insert("unevaluatedProperties".to_owned(), false.into());
    }
    let Some(applicators) = node.applicators.as_deref() else { return };
    // Each alternative may list only some of the keys.
    let context = Context { closed: false, ..context };
    let rule = |node: &Node| rule(node, context);
    applicators.export_parts(&node.keywords, rule, out);
    let same = applicators.export_same(rule);
    if node.nullable && !same.is_empty() {
        add(out, "anyOf", json!([{ "type": "null" }, same]));
        return;
    }
    for (keyword, value) in same {
        add(out, &keyword, value);
    }
}

/// Adds a keyword that may already be present.
fn add(out: &mut Map<String, Value>, keyword: &str, value: Value) {
    if !out.contains_key(keyword) {
        out.insert(keyword.to_owned(), value);
        return;
    }
    let all = out.entry("allOf").or_insert_with(|| json!([]));
    match (all, value) {
        (Value::Array(all), Value::Array(more)) if keyword == "allOf" => all.extend(more),
        (Value::Array(all), value) => all.push(json!({ keyword: value })),
        _ => {}
    }
}
