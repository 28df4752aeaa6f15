//! Exports definitions as `$defs`, references as `$ref` and unions as `oneOf`.

use serde_json::{Map, Value, json};

use super::applicators::applicators;
use super::disjoint::are_disjoint;
use super::{Context, rule};
use crate::node::{FirstOf, Inner, Node, Tagged, Variants, kind};

/// Returns the root with all definitions that it refers to.
pub(crate) fn schema(root: &Node, context: Context<'_>) -> Value {
    let mut rules = all(context);
    let out = match bare_place(root) {
        // The rule of a type is written inline, unless something refers to it
        // by name.
        Some(place) if !is_used(&context.definitions[place].name, &rules) => rules[place].take(),
        _ => rule(root, context),
    };
    with_definitions(out, rules, context)
}

/// Returns the definition at `place`. If `whole`, includes the definitions that
/// it refers to.
pub(crate) fn definition(place: usize, whole: bool, context: Context<'_>) -> Value {
    let Some(definition) = context.definitions.get(place) else {
        return Value::Bool(true);
    };
    let out = rule(&definition.node, context);
    if whole { with_definitions(out, all(context), context) } else { out }
}

fn all(context: Context<'_>) -> Vec<Value> {
    context.definitions.iter().map(|definition| rule(&definition.node, context)).collect()
}

/// Adds the definitions that have not been removed.
fn with_definitions(mut out: Value, rules: Vec<Value>, context: Context<'_>) -> Value {
    let named = context.definitions.iter().zip(rules).filter(|(_, rule)| !rule.is_null());
    let defs: Map<String, Value> =
        named.map(|(definition, rule)| (definition.name.clone(), rule)).collect();
    if let Value::Object(out) = &mut out
        && !defs.is_empty()
    {
        out.insert("$defs".to_owned(), defs.into());
    }
    out
}

/// Returns `{ "$ref": … }` for a node without any other keyword.
pub(super) fn bare_reference(node: &Node, context: Context<'_>) -> Option<Value> {
    let place = bare_place(node)?;
    Some(json!({ "$ref": (context.reference)(context.definitions.get(place)?) }))
}

/// Adds the parts that are not keywords: tuples, references and unions.
pub(super) fn inner(node: &Node, context: Context<'_>, mut out: Map<String, Value>) -> Value {
    if let Some(rules) = node.array.as_deref().filter(|rules| !rules.places.is_empty()) {
        let elements = rules.places.iter().map(|node| rule(node, context)).collect();
        out.insert("prefixItems".to_owned(), elements);
    }
    match node.inner.as_deref() {
        None => {}
        Some(Inner::Definition(place)) => {
            if let Some(definition) = context.definitions.get(*place) {
                out.insert("$ref".to_owned(), (context.reference)(definition).into());
            }
            if node.nullable {
                applicators(node, context, &mut out);
                return or_null(out);
            }
        }
        Some(Inner::Tagged(union)) => {
            out.insert("oneOf".to_owned(), tagged(union, node.nullable, context));
        }
        Some(Inner::Variants(union)) => {
            out.insert("oneOf".to_owned(), variants(union, node.nullable, context));
        }
        Some(Inner::FirstOf(union)) => {
            let is_one_of = !union.keys.is_empty() || are_disjoint(&union.variants, context);
            let keyword = if is_one_of { "oneOf" } else { "anyOf" };
            // Some tools take the keyword as alternatives for a text.
            if out.get("type").is_some_and(|types| types == "string") {
                out.remove("type");
            }
            out.insert(keyword.to_owned(), first_of(union, node.nullable, context));
        }
    }
    applicators(node, context, &mut out);
    Value::Object(out)
}

/// Returns true if `required: true` needs no explicit constraint, because the
/// referenced type accepts neither null nor text.
pub(super) fn refuses_null(node: &Node, context: Context<'_>) -> bool {
    let Some(Inner::Definition(place)) = node.inner.as_deref() else {
        return false;
    };
    context.definitions.get(*place).is_some_and(|definition| {
        let types = &definition.node.types;
        types.given() && !types.take_text() && !types.has(kind::NULL) && !definition.node.nullable
    })
}

fn bare_place(node: &Node) -> Option<usize> {
    let Some(Inner::Definition(place)) = node.inner.as_deref() else {
        return None;
    };
    // Documents never contain these keywords.
    let is_silent = |name: &String| matches!(name.as_str(), "trim" | "message");
    let says_more = !node.keywords.keys().all(is_silent)
        || node.array.is_some()
        || node.object.is_some()
        || node.applicators.is_some()
        || node.default.is_some();
    (!says_more).then_some(*place)
}

/// Allows null as an alternative to a reference. The annotations stay outside.
fn or_null(mut out: Map<String, Value>) -> Value {
    let mut outer = Map::new();
    let is_outer = |name: &str| {
        let is_note = ["title", "description", "default", "examples", "deprecated"].contains(&name);
        is_note || ["readOnly", "writeOnly"].contains(&name) || name.starts_with("x-")
    };
    out.retain(|name, value| {
        let moves = is_outer(name);
        if moves {
            outer.insert(name.clone(), value.take());
        }
        !moves
    });
    outer.insert("anyOf".to_owned(), json!([out, { "type": "null" }]));
    Value::Object(outer)
}

fn tagged(union: &Tagged, nullable: bool, context: Context<'_>) -> Value {
    let variants = union.nodes().map(|node| rule(node, context));
    variants.chain(null_if(nullable)).collect()
}

fn first_of(union: &FirstOf, nullable: bool, context: Context<'_>) -> Value {
    let variants = union.variants.iter().filter(|node| !node.never);
    let variants = variants.map(|node| without_keys(rule(node, context), union));
    let takes_null = union.variants.iter().any(|node| node.accepts_null);
    variants.chain(null_if(nullable && !takes_null)).collect()
}

/// Excludes the keys of a union with `not`. A `false` property would mean the same, but client
/// generators do not support it.
fn without_keys(mut variant: Value, union: &FirstOf) -> Value {
    let Some(properties) = variant.get_mut("properties").and_then(Value::as_object_mut) else {
        return variant;
    };
    let is_refused = |name: &str| union.keys.iter().any(|key| **key == *name);
    let refused: Vec<Value> = properties
        .iter()
        .filter(|(name, rule)| **rule == false && is_refused(name))
        .map(|(name, _)| json!({ "required": [name] }))
        .collect();
    properties.retain(|name, rule| *rule != false || !is_refused(name));
    if let Some(variant) = variant.as_object_mut()
        && !refused.is_empty()
    {
        variant.insert("not".to_owned(), json!({ "anyOf": refused }));
    }
    variant
}

fn variants(union: &Variants, nullable: bool, context: Context<'_>) -> Value {
    let names: Vec<Value> = union
        .variants
        .iter()
        .filter(|(_, node)| node.is_none())
        .map(|(name, _)| Value::from(&**name))
        .collect();
    let names = if union.has_other {
        let objects = union.variants.iter().filter(|(_, node)| node.is_some());
        let objects: Vec<&str> = objects.map(|(name, _)| &**name).collect();
        Some(json!({ "type": "string", "not": { "enum": objects } }))
    } else {
        (!names.is_empty()).then(|| json!({ "type": "string", "enum": names }))
    };
    let objects = union.variants.iter().filter_map(|(name, node)| {
        let mut properties = Map::new();
        properties.insert(name.to_string(), rule(node.as_ref()?, context));
        Some(json!({
            "type": "object",
            "properties": properties,
            "required": [name],
            "additionalProperties": false,
        }))
    });
    names.into_iter().chain(objects).chain(null_if(nullable)).collect()
}

fn null_if(nullable: bool) -> Option<Value> {
    nullable.then(|| json!({ "type": "null" }))
}

pub(crate) fn pointer(name: &str) -> String {
    format!("#/$defs/{name}")
}

/// Returns true if any rule refers to the definition with this name.
fn is_used(name: &str, rules: &[Value]) -> bool {
    let pointer = pointer(name);
    rules.iter().any(|rule| refers(rule, &pointer))
}

fn refers(value: &Value, pointer: &str) -> bool {
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(name, value)| name == "$ref" && value == pointer || refers(value, pointer)),
        Value::Array(items) => items.iter().any(|item| refers(item, pointer)),
        _ => false,
    }
}
