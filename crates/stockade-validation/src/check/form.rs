//! Form and query values with a special meaning: an unchecked checkbox is
//! absent, a checked checkbox is `on`, and an empty field is empty text.
//!
//! Source: WHATWG HTML, section 4.10.22.4 (constructing the entry list).
//! Section 4.10.20 (constraint validation) also treats an empty optional field
//! as valid, whatever its type, pattern and length are.

use serde_json::{Map, Value};

use super::sink::Collecting;
use super::walk::Walk;
use crate::node::{Compiled, Inner, Node, ObjectRules, Property, Types, kind};
use crate::options::ValidationOptions;

/// The value of a checked checkbox without a `value` attribute.
const CHECKED: &str = "on";

/// Replaces empty, absent and `on` values in a query or form according to the
/// schema.
pub(crate) fn fill(
    compiled: &Compiled,
    data: &mut Value,
    options: &ValidationOptions,
    source: TextSource,
) {
    let Some(rules) = rules_of(compiled, data) else {
        return;
    };
    let filling = Filling { compiled, options, source, whole: data };
    let mut changes = Vec::new();
    for property in rules.properties() {
        filling.note(property, data, &[], &mut changes);
    }
    for (path, change) in changes {
        let [outer @ .., name] = path.as_slice() else { continue };
        let holder = outer.iter().try_fold(&mut *data, |value, name| value.get_mut(*name));
        if let Some(Value::Object(fields)) = holder {
            change.apply(fields, name);
        }
    }
}

/// The source of text values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextSource {
    /// A query string. Options define the meaning of its text.
    Query,
    /// A form, as sent by a browser.
    Form,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Set(bool),
    Remove,
    /// Removes empty text from a list. Removes the list if nothing remains.
    RemoveEmpty,
}

impl Change {
    fn apply(self, fields: &mut Map<String, Value>, name: &str) {
        match self {
            Self::Set(flag) => {
                fields.insert(name.to_owned(), flag.into());
            }
            // Preserve the order of the other fields.
            Self::Remove => {
                fields.shift_remove(name);
            }
            Self::RemoveEmpty => {
                if let Some(Value::Array(texts)) = fields.get_mut(name) {
                    texts.retain(|text| !is_empty(text));
                    if texts.is_empty() {
                        fields.shift_remove(name);
                    }
                }
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
}

/// The state for one query or form.
#[derive(Clone, Copy)]
struct Filling<'s, 'd> {
    compiled: &'s Compiled,
    options: &'d ValidationOptions,
    source: TextSource,
    whole: &'d Value,
}

impl<'s> Filling<'s, '_> {
    /// Records the changes to a property of `object` and to its nested
    /// properties.
    fn note(
        self,
        property: &'s Property,
        object: &Value,
        path: &[&'s str],
        changes: &mut Vec<(Vec<&'s str>, Change)>,
    ) {
        let Some((node, is_required)) = resolved(self.compiled, &property.node) else {
            return;
        };
        let path: Vec<&str> = path.iter().copied().chain([&*property.name]).collect();
        let value = object.get(&*property.name);
        if let (Some(value @ Value::Object(_)), Some(rules)) = (value, node.object.as_deref()) {
            for inner in rules.properties() {
                self.note(inner, value, &path, changes);
            }
        } else if let Some(change) = self.change_of(property, node, is_required, value) {
            changes.push((path, change));
        }
    }

    fn change_of(
        self,
        property: &Property,
        node: &Node,
        is_required: bool,
        value: Option<&Value>,
    ) -> Option<Change> {
        let has_default = property.node.default.is_some();
        let is_required = (is_required || property.in_required_list) && !has_default;
        let is_form = self.source == TextSource::Form;
        let is_checkbox = (is_form || self.options.checkboxes) && is_checkbox(&node.types);
        let empty_is_absent = || {
            let by_form = is_form && !is_required;
            let by_option = self.options.empty_as_absent && !is_plain_text(node);
            (by_form || by_option) && !self.accepts_empty(property)
        };
        match value {
            None if is_required && is_checkbox => Some(Change::Set(false)),
            Some(Value::String(text)) if text == CHECKED && is_checkbox => Some(Change::Set(true)),
            Some(Value::String(text)) if text.is_empty() && empty_is_absent() => {
                Some(Change::Remove)
            }
            Some(Value::Array(texts))
                if self.options.empty_as_absent
                    && texts.iter().any(is_empty)
                    && !self.accepts_empty(property) =>
            {
                Some(Change::RemoveEmpty)
            }
            _ => None,
        }
    }

    /// Returns true if empty text is valid for this property. Errors of
    /// functions are handled later.
    fn accepts_empty(self, property: &Property) -> bool {
        let options = self.options.clone().abort_early(true);
        let sink = Collecting::new(&options);
        let mut walk = Walk::of(self.compiled, &options, sink, Some(self.whole), true);
        walk.root(&property.node, Some(&property.name), &Value::String(String::new()));
        walk.sink.finish().map_or(true, |errors| errors.is_empty())
    }
}

/// Returns the rules for the fields of the form. For a union, returns the rules
/// of the variant that the form selects.
fn rules_of<'s>(compiled: &'s Compiled, form: &Value) -> Option<&'s ObjectRules> {
    let (mut node, _) = resolved(compiled, &compiled.root)?;
    loop {
        let variant = match node.inner.as_deref() {
            Some(Inner::Tagged(tagged)) => tagged.variant_of(form)?,
            Some(Inner::FirstOf(union)) => super::variant_of(compiled, union, form),
            _ => return node.object.as_deref(),
        };
        (node, _) = resolved(compiled, variant)?;
    }
}

/// Follows references to definitions. The second result is true if a node on
/// the way requires a value.
fn resolved<'s>(compiled: &'s Compiled, mut node: &'s Node) -> Option<(&'s Node, bool)> {
    let mut is_required = node.required;
    // Cyclic references are an error in the schema.
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

/// Returns true for text without a format and without a list of allowed values.
fn is_plain_text(node: &Node) -> bool {
    let has_format = node.keywords.contains_key("format");
    node.types.take(kind::STRING) && !has_format && node.literals.is_empty()
}
