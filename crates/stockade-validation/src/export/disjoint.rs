//! Checks that no value can match two variants of a union.

use serde_json::Value;

use super::Context;
use crate::node::{AdditionalRule, Inner, Node, ObjectRules, kind};

/// The maximum number of variants. Larger unions are not checked, because the
/// check compares every pair.
const MAX_VARIANTS: usize = 64;

/// The maximum number of levels and references that the comparison follows.
const MAX_STEPS: usize = 6;

/// Returns true if no value can match two of these rules. Only types, constants
/// and required properties are compared.
pub(super) fn are_disjoint(variants: &[Node], context: Context<'_>) -> bool {
    let mut pairs = variants
        .iter()
        .enumerate()
        .flat_map(|(index, left)| variants.iter().skip(index + 1).map(move |right| (left, right)));
    variants.len() <= MAX_VARIANTS
        && pairs.all(|(left, right)| differ(left, right, context, MAX_STEPS))
}

/// Returns true if no value matches both nodes.
fn differ(left: &Node, right: &Node, context: Context<'_>, steps: usize) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    if left.never || right.never {
        return true;
    }
    let common = types(left, context) & types(right, context);
    if common == 0 {
        return true;
    }
    if left.nullable && right.nullable {
        return false;
    }
    if let Some(inner) = parts(left, context) {
        return inner.into_iter().all(|part| differ(part, right, context, steps));
    }
    if let Some(inner) = parts(right, context) {
        return inner.into_iter().all(|part| differ(left, part, context, steps));
    }
    if let (Some(values), Some(others)) = (literals(left), literals(right)) {
        return values.iter().all(|value| !right.literals.iter().all(|it| it.has(*value)))
            && others.iter().all(|value| !left.literals.iter().all(|it| it.has(*value)));
    }
    match common {
        kind::OBJECT => match (left.object.as_deref(), right.object.as_deref()) {
            (Some(left), Some(right)) => objects_differ(left, right, context, steps),
            _ => false,
        },
        kind::ARRAY => match (left.array.as_deref(), right.array.as_deref()) {
            (Some(left), Some(right)) => {
                let (left, right) = (&left.counts, &right.counts);
                left.most < right.least || right.most < left.least
            }
            _ => false,
        },
        _ => false,
    }
}

/// Returns the value types that a node accepts.
fn types(node: &Node, context: Context<'_>) -> u8 {
    let mut node = node;
    let mut mask = u8::MAX;
    let mut null = 0;
    for _ in 0..=MAX_STEPS {
        if node.nullable {
            null = kind::NULL;
        }
        if node.types.given() {
            let number = if node.types.has(kind::NUMBER) { kind::INTEGER } else { 0 };
            let text = if node.types.take_text() { kind::STRING } else { 0 };
            mask &= node.types.mask | number | text;
        }
        match node.inner.as_deref() {
            Some(Inner::Definition(place)) => match context.definitions.get(*place) {
                Some(definition) => node = &definition.node,
                None => break,
            },
            _ => break,
        }
    }
    mask | null
}

/// Returns the rules that a node represents: its definition, or the variants of
/// its union.
fn parts<'c>(node: &'c Node, context: Context<'c>) -> Option<Vec<&'c Node>> {
    match node.inner.as_deref()? {
        Inner::Definition(place) => {
            context.definitions.get(*place).map(|definition| vec![&definition.node])
        }
        Inner::Tagged(union) => Some(union.nodes().collect()),
        Inner::FirstOf(union) => Some(union.variants.iter().collect()),
        Inner::Variants(_) => None,
    }
}

/// Returns the constants of a node.
fn literals(node: &Node) -> Option<Vec<&Value>> {
    let listed = node.keywords.get("enum").and_then(Value::as_array);
    match (node.keywords.get("const"), listed) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(values)) => Some(values.iter().collect()),
        (None, None) => None,
    }
}

/// Returns true if a required property of one node differs in the other node,
/// or if the other node rejects it.
fn objects_differ(
    left: &ObjectRules,
    right: &ObjectRules,
    context: Context<'_>,
    steps: usize,
) -> bool {
    let sides = [(left, right), (right, left)];
    sides.into_iter().any(|(one, other)| {
        let mut required = one.entries.iter().filter(|entry| entry.must_be_present());
        required.any(|entry| match other.find_listed(&entry.name, 0) {
            Some(index) => differ(&entry.node, &other.entries[index].node, context, steps),
            None => matches!(other.additional, AdditionalRule::Refused),
        })
    })
}
