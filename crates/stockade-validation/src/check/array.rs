//! Arrays: counts, uniqueness, elements.

use super::Run;
use super::patch::Patch;
use super::path::Path;
use super::scalar::whole;
use crate::data::Data;
use crate::equal::unique;
use crate::node::{ArrayRules, Bound, Node};

impl<'s> Run<'_, 's> {
    /// Judges an array with so many elements.
    pub(super) fn array<'d>(
        &mut self,
        node: &'s Node,
        array: impl Data<'d>,
        count: usize,
        path: &Path<'_>,
    ) -> Patch<'s> {
        self.array_size(node, count, path);
        let Some(rules) = &node.array else {
            return Patch::Keep;
        };
        self.count(node, rules, count, path);
        if rules.unique && !self.done && !is_unique(array) {
            self.fail(node, path, "uniqueItems", || "Items must be unique");
        }
        match &rules.items {
            Some(item_node) if !item_node.is_any() => self.items(item_node, array, path),
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
            self.fail(node, path, "min", || at_least(bound.shown()));
        }
        if let Some(bound) = size.max.as_ref().filter(fails_max) {
            self.fail(node, path, "max", || at_most(bound.shown()));
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

    fn items<'d>(&mut self, node: &'s Node, array: impl Data<'d>, parent: &Path<'_>) -> Patch<'s> {
        let mut patches = Vec::new();
        for (index, item) in array.items().enumerate() {
            if self.done {
                break;
            }
            if self.passes(node, item) {
                continue;
            }
            let patch = self.visit(node, item, &Path::Item { index, parent });
            if !patch.is_keep() {
                patches.push((index, patch));
            }
        }
        if patches.is_empty() { Patch::Keep } else { Patch::Array(patches) }
    }
}

fn is_unique<'d>(array: impl Data<'d>) -> bool {
    array.to_value().as_array().is_none_or(|items| unique(items))
}

fn at_least(bound: impl std::fmt::Display) -> String {
    format!("Array must contain at least {bound} items")
}

fn at_most(bound: impl std::fmt::Display) -> String {
    format!("Array must contain at most {bound} items")
}
