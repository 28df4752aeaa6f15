//! The marked properties of named types, for other descriptions of these types.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mark, Marks};
use crate::inner::Key;

/// A named type and its marked properties.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MarkedType {
    /// The names of the properties that clients do not send.
    pub read_only: BTreeSet<String>,
    /// The names of the properties that clients do not receive.
    pub write_only: BTreeSet<String>,
}

impl Marks {
    /// Adds the named types in the schema, at every depth, by their short
    /// names. Includes types without marks.
    pub fn add_types(&self, types: &mut BTreeMap<String, MarkedType>) {
        for definition in &self.compiled.definitions {
            // A view lacks the places that it removes.
            if matches!(definition.reference.key, Key::View(..)) {
                continue;
            }
            let marked = types.entry(definition.reference.name.clone()).or_default();
            let rules = self.followed(&definition.node).object.as_deref();
            for property in rules.into_iter().flat_map(|rules| rules.properties()) {
                if self.is_marked(&property.node, Mark::ReadOnly) {
                    marked.read_only.insert(property.name.to_string());
                }
                if self.is_marked(&property.node, Mark::WriteOnly) {
                    marked.write_only.insert(property.name.to_string());
                }
            }
        }
    }

    /// Returns the short name of the whole value's type, or `None` if the type
    /// is unnamed.
    #[must_use]
    pub fn type_name(&self) -> Option<&str> {
        match self.compiled.root.inner.as_deref() {
            Some(crate::node::Inner::Definition(place)) => {
                Some(&self.compiled.definitions[*place].reference.name)
            }
            _ => None,
        }
    }
}
