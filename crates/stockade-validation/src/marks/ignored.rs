//! Marked places in positions without effect: inside alternatives, conditions
//! and rules for a part of a value.

use std::collections::HashSet;

use super::{Mark, Marks, has_mark};
use crate::build::push_step;
use crate::node::{Inner, Node};

impl Marks {
    /// Returns the JSON pointer of a mark that has no effect, or `None`. A
    /// pointer continues in the type that a `$ref` names.
    #[must_use]
    pub fn ignored(&self, mark: Mark) -> Option<String> {
        let mut search = Search { marks: self, mark, seen: HashSet::new() };
        search.find(&self.compiled.root, "", false)
    }
}

struct Search<'m> {
    marks: &'m Marks,
    mark: Mark,
    /// The definitions that were searched, each in and outside a branch.
    seen: HashSet<(usize, bool)>,
}

impl Search<'_> {
    fn find(&mut self, node: &Node, pointer: &str, in_branch: bool) -> Option<String> {
        if in_branch && has_mark(node, self.mark) {
            return Some(step(pointer, self.mark.keyword()));
        }
        let marks = self.marks;
        let by_inner = match node.inner.as_deref() {
            Some(Inner::Definition(place)) => self
                .seen
                .insert((*place, in_branch))
                .then(|| self.find(&marks.compiled.definitions[*place].node, pointer, in_branch)),
            Some(Inner::Tagged(union)) => {
                Some(self.any("oneOf", union.nodes(), pointer, in_branch))
            }
            Some(Inner::FirstOf(union)) => {
                Some(self.any("anyOf", &union.variants, pointer, in_branch))
            }
            Some(Inner::Variants(union)) => {
                let contents = union.variants.iter().filter_map(|(_, node)| node.as_ref());
                Some(self.any("oneOf", contents, pointer, in_branch))
            }
            None => None,
        };
        by_inner.flatten().or_else(|| self.inside(node, pointer, in_branch))
    }

    fn inside(&mut self, node: &Node, pointer: &str, in_branch: bool) -> Option<String> {
        for property in node.object.as_deref().into_iter().flat_map(|rules| rules.properties()) {
            let pointer = step(&step(pointer, "properties"), &property.name);
            if let Some(found) = self.find(&property.node, &pointer, in_branch) {
                return Some(found);
            }
        }
        let items = node.array.as_deref().and_then(|rules| rules.items.as_ref());
        let items = items.and_then(|items| self.find(items, &step(pointer, "items"), in_branch));
        if items.is_some() {
            return items;
        }
        for rule in node.object.as_deref().into_iter().flat_map(|rules| &rules.patterns) {
            let pointer = step(&step(pointer, "patternProperties"), rule.pattern.ecma());
            if let Some(found) = self.find(&rule.node, &pointer, true) {
                return Some(found);
            }
        }
        let parts = node.applicators.as_deref().map(|applicators| applicators.parts());
        parts
            .into_iter()
            .flatten()
            .find_map(|(keyword, part)| self.find(part, &format!("{pointer}/{keyword}"), true))
    }

    fn any<'n>(
        &mut self,
        keyword: &str,
        nodes: impl IntoIterator<Item = &'n Node>,
        pointer: &str,
        in_branch: bool,
    ) -> Option<String> {
        let mut nodes = nodes.into_iter().enumerate();
        nodes.find_map(|(index, node)| {
            self.find(node, &format!("{pointer}/{keyword}/{index}"), in_branch)
        })
    }
}

fn step(pointer: &str, name: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_step(&mut pointer, name);
    pointer
}
