//! Arrays: counts, uniqueness, elements.

use serde_json::Value;

use super::Run;
use super::patch::Patch;
use super::path::Path;
use super::scalar::whole;
use crate::equal::unique;
use crate::node::{ArrayRules, Bound, Node};
use crate::number::shown;

impl<'s> Run<'_, 's> {
    pub(super) fn array(&mut self, node: &'s Node, items: &[Value], path: &Path<'_>) -> Patch<'s> {
        self.array_size(node, items.len(), path);
        let Some(rules) = &node.array else {
            return Patch::Keep;
        };
        self.count(node, rules, items.len(), path);
        if rules.unique && !self.done && !unique(items) {
            self.fail(node, path, "uniqueItems", || "Items must be unique".to_owned());
        }
        match &rules.items {
            Some(item_node) if !item_node.is_any() => self.items(item_node, items, path),
            _ => Patch::Keep,
        }
    }

    /// `min` and `max`, unless `minItems` and `maxItems` are there.
    fn array_size(&mut self, node: &Node, count: usize, path: &Path<'_>) {
        let Some(size) = &node.size else {
            return;
        };
        let rules = node.array.as_deref();
        let count = whole(count);
        let fails_min = |bound: &&Bound| {
            rules.is_none_or(|rules| rules.min_items.is_none()) && bound.seen_from(count).is_lt()
        };
        let fails_max = |bound: &&Bound| {
            rules.is_none_or(|rules| rules.max_items.is_none()) && bound.seen_from(count).is_gt()
        };
        if let Some(bound) = size.min.as_ref().filter(fails_min) {
            self.fail(node, path, "min", || at_least(shown(&bound.number)));
        }
        if let Some(bound) = size.max.as_ref().filter(fails_max) {
            self.fail(node, path, "max", || at_most(shown(&bound.number)));
        }
    }

    fn count(&mut self, node: &Node, rules: &ArrayRules, count: usize, path: &Path<'_>) {
        if let Some(least) = rules.min_items
            && count < least
        {
            self.fail(node, path, "minItems", || at_least(least));
        }
        if let Some(most) = rules.max_items
            && count > most
        {
            self.fail(node, path, "maxItems", || at_most(most));
        }
    }

    fn items(&mut self, node: &'s Node, items: &[Value], parent: &Path<'_>) -> Patch<'s> {
        let mut patches = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.done {
                break;
            }
            let patch = self.visit(node, item, &Path::Item { index, parent });
            if !patch.is_keep() {
                patches.push((index, patch));
            }
        }
        if patches.is_empty() { Patch::Keep } else { Patch::Array(patches) }
    }
}

fn at_least(bound: impl std::fmt::Display) -> String {
    format!("Array must contain at least {bound} items")
}

fn at_most(bound: impl std::fmt::Display) -> String {
    format!("Array must contain at most {bound} items")
}
