//! Forms as browsers send them: an unchecked checkbox is absent, a checked one is
//! `on`, and a field that was left empty is empty text.
//!
//! Source: WHATWG HTML, section 4.10.22.4 (constructing the entry list). Its
//! section 4.10.20 (constraint validation) also treats an empty field that is not
//! required as valid, whatever its type, pattern and length are.

use serde_json::Value;

use super::sink::Collecting;
use super::walk::Walk;
use crate::node::{Compiled, Inner, Node, ObjectRules, Property, Types, kind};
use crate::options::ValidationOptions;

/// The value of a checked checkbox that names no other.
const CHECKED: &str = "on";

/// Replaces the values of a form that have no text of their own by what they mean
/// to the schema.
pub(crate) fn fill(compiled: &Compiled, form: &mut Value, options: &ValidationOptions) {
    let Some(rules) = rules_of(compiled, form) else {
        return;
    };
    let mut changes = Vec::new();
    for property in rules.properties() {
        let change = change_of(compiled, property, form, options);
        changes.extend(change.map(|change| (&*property.name, change)));
    }
    let Value::Object(fields) = form else {
        return;
    };
    for (name, change) in changes {
        match change {
            Change::Set(flag) => {
                fields.insert(name.to_owned(), flag.into());
            }
            // The order of the other fields stays.
            Change::Remove => {
                fields.shift_remove(name);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Set(bool),
    Remove,
}

fn change_of(
    compiled: &Compiled,
    property: &Property,
    form: &Value,
    options: &ValidationOptions,
) -> Option<Change> {
    let (node, is_required) = resolved(compiled, &property.node)?;
    let has_default = property.node.default.is_some();
    let is_required = (is_required || property.in_required_list) && !has_default;
    match form.get(&*property.name) {
        None if is_required && is_checkbox(&node.types) => Some(Change::Set(false)),
        Some(Value::String(text)) if text == CHECKED && is_checkbox(&node.types) => {
            Some(Change::Set(true))
        }
        Some(Value::String(text))
            if text.is_empty()
                && !is_required
                && !accepts_nothing(compiled, property, form, options) =>
        {
            Some(Change::Remove)
        }
        _ => None,
    }
}

/// Returns the rules of the form's fields. For a union these are the rules of the
/// kind that the form names.
fn rules_of<'s>(compiled: &'s Compiled, form: &Value) -> Option<&'s ObjectRules> {
    let (mut node, _) = resolved(compiled, &compiled.root)?;
    while let Some(Inner::Tagged(tagged)) = node.inner.as_deref() {
        let name = form.get(&*tagged.tag)?.as_str()?;
        let (_, variant) = tagged.variants.iter().find(|(known, _)| **known == *name)?;
        (node, _) = resolved(compiled, variant)?;
    }
    node.object.as_deref()
}

/// Follows references to definitions; also returns true if a node on the way
/// requires a value.
fn resolved<'s>(compiled: &'s Compiled, mut node: &'s Node) -> Option<(&'s Node, bool)> {
    let mut is_required = node.required;
    // A cycle of references is a mistake of the schema.
    for _ in 0..=compiled.definitions.len() {
        let Some(Inner::Definition(place)) = node.inner.as_deref() else {
            return Some((node, is_required));
        };
        node = &compiled.definitions.get(*place)?.node;
        is_required |= node.required;
    }
    None
}

fn is_checkbox(types: &Types) -> bool {
    types.mask & !kind::NULL == kind::BOOLEAN && types.formats.is_empty()
}

/// Returns true if empty text is a value of this property. A function that fails
/// decides later.
fn accepts_nothing(
    compiled: &Compiled,
    property: &Property,
    form: &Value,
    options: &ValidationOptions,
) -> bool {
    let options = options.clone().abort_early(true);
    let sink = Collecting::new(&options);
    let mut walk = Walk::new(&compiled.definitions, &options, sink, Some(form), true);
    let nothing = Value::String(String::new());
    walk.root(&property.node, Some(&property.name), &nothing);
    walk.sink.finish().map_or(true, |errors| errors.is_empty())
}
