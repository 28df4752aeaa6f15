//! Required places that no client can send.

use super::{Mark, Marks};
use crate::node::Node;

/// The maximum number of nested objects that are followed.
const MAX_DEPTH: usize = 32;

impl Marks {
    /// Returns the path of a read-only property that every value must have, or
    /// `None`. If such a property exists, no value without its read-only places
    /// is valid.
    #[must_use]
    pub fn required_read_only(&self) -> Option<String> {
        let root = &self.compiled.root;
        if root.nullable || self.followed(root).nullable {
            return None;
        }
        self.required_in(root, MAX_DEPTH)
    }

    fn required_in(&self, node: &Node, left: usize) -> Option<String> {
        let left = left.checked_sub(1)?;
        let rules = self.followed(node).object.as_deref()?;
        let mut required = rules.properties().iter().filter(|property| property.must_be_present());
        required.find_map(|property| {
            if self.is_marked(&property.node, Mark::ReadOnly) {
                return Some(property.name.to_string());
            }
            let may_be_null = property.node.nullable || self.followed(&property.node).nullable;
            let inner = self.required_in(&property.node, left).filter(|_| !may_be_null);
            inner.map(|path| format!("{}.{path}", property.name))
        })
    }
}
