//! The marked properties of types with a name, for other descriptions of these types.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mark, Marks};
use crate::inner::Key;

/// A type with a name, and its marked properties.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MarkedType {
    /// The names of the properties that clients do not send.
    pub read_only: BTreeSet<String>,
    /// The names of the properties that clients do not receive.
    pub write_only: BTreeSet<String>,
}

impl Marks {
    /// Adds the types with a name in the schema, at every depth, by their short names. A
    /// type without marks is added too.
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

    /// Returns the short name of the type that the whole is; `None` if it has no name.
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
