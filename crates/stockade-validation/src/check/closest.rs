//! Finds the closest alternative for a value that matches none.

use crate::data::{Data, Kind};
use crate::node::{Definition, Inner, Literals, Node, kind};

/// The distance between one alternative and a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'s> {
    /// The expected types, if the value has a different type.
    pub(super) wrong_type: Option<&'s str>,
    /// True if the value or one of its properties equals a constant of the
    /// alternative.
    has_constant: bool,
    errors: usize,
}

impl<'s> Candidate<'s> {
    /// Returns the distance of an alternative that reports this number of
    /// errors for the value.
    pub(super) fn of<'d>(
        node: &'s Node,
        definitions: &'s [Definition],
        value: impl Data<'d>,
        errors: usize,
    ) -> Self {
        let kind = value.kind();
        let is_null = node.nullable && matches!(kind, Kind::Null);
        let node = resolved(node, definitions);
        let is_wrong = node.never || !(is_null || has_type(node, kind));
        Self {
            wrong_type: (is_wrong && !node.never).then_some(&node.types.expected),
            has_constant: !is_wrong && has_constant(node, definitions, value),
            errors,
        }
    }

    /// Returns true if this alternative is closer than an earlier one. The JSON
    /// type of the value is compared first, then an equal constant, then the
    /// number of errors.
    pub(super) fn is_closer_than(&self, earlier: &Self) -> bool {
        let rank =
            |it: &Self| (it.wrong_type.is_none(), it.has_constant, std::cmp::Reverse(it.errors));
        rank(self) > rank(earlier)
    }
}

/// Follows references and returns the target node.
fn resolved<'s>(mut node: &'s Node, definitions: &'s [Definition]) -> &'s Node {
    // Cyclic references are an error in the schema.
    for _ in 0..=definitions.len() {
        match node.inner.as_deref() {
            Some(Inner::Definition(place)) if !node.types.given() => {
                match definitions.get(*place) {
                    Some(definition) => node = &definition.node,
                    None => break,
                }
            }
            _ => break,
        }
    }
    node
}

/// Returns true if the node accepts the type of the value.
fn has_type(node: &Node, value: Kind<'_>) -> bool {
    let types = &node.types;
    match value {
        Kind::Null => node.nullable || types.take(kind::NULL),
        Kind::Bool(_) => types.take(kind::BOOLEAN),
        // JSON has only one type for numbers, with or without a fraction.
        Kind::Number(_) => types.take(kind::NUMBER | kind::INTEGER),
        Kind::Text(_) => types.take_text(),
        Kind::Array(_) => types.take(kind::ARRAY),
        Kind::Object(_) => types.take(kind::OBJECT),
    }
}

/// Returns true if the value or one of its properties equals a constant of the
/// alternative.
fn has_constant<'d>(node: &Node, definitions: &[Definition], value: impl Data<'d>) -> bool {
    let is_listed = |node: &Node, value| {
        let literals = &resolved(node, definitions).literals;
        !literals.is_empty() && literals.iter().all(|listed: &Literals| listed.has(value))
    };
    if is_listed(node, value) {
        return true;
    }
    let properties = node.object.as_deref().map_or(&[][..], |rules| rules.properties());
    let has_property = properties.iter().any(|property| {
        value.member(&property.name).is_some_and(|value| is_listed(&property.node, value))
    });
    has_property
        || match node.inner.as_deref() {
            Some(Inner::Tagged(tagged)) => {
                let tag = value.member(&tagged.tag).and_then(Data::text);
                tagged.variants.iter().any(|(name, _)| tag == Some(&**name))
            }
            Some(Inner::Variants(union)) => union
                .variants
                .iter()
                .any(|(name, _)| value.text() == Some(&**name) || value.member(name).is_some()),
            Some(Inner::Definition(_) | Inner::FirstOf(_)) | None => false,
        }
}
