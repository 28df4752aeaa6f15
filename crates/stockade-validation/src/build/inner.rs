//! Compiling the parts of a rule beside its keywords.

use std::collections::HashSet;

use super::compile::Compiler;
use crate::inner::{InnerRule, Key};
use crate::node::{Inner, Node, Tagged, Variants};
use crate::rule::Rule;

impl Compiler<'_> {
    /// Compiles `inner`; the second part is the rules of a tuple's places.
    pub(super) fn inner(
        &mut self,
        rule: &mut Rule,
        levels: usize,
    ) -> (Option<Box<Inner>>, Box<[Node]>) {
        let Some(inner) = rule.inner.take() else {
            return (None, Box::default());
        };
        // Other elements and an object are no contradiction to the places of a tuple.
        if !matches!(inner, InnerRule::Tuple(_)) {
            self.refuse_structure(rule);
        }
        let inner = match inner {
            InnerRule::Reference(reference) => {
                let direction = self.direction;
                Inner::Definition(self.state.definitions.place(reference, direction))
            }
            InnerRule::Tagged { tag, variants } => self.tagged(tag, variants, levels),
            InnerRule::Variants(variants) => self.variants(variants, levels),
            InnerRule::Tuple(elements) => {
                let elements = elements.into_iter().enumerate();
                let nodes =
                    elements.map(|(index, rule)| self.child(rule, &format!("[{index}]"), levels));
                return (None, nodes.collect());
            }
        };
        (Some(Box::new(inner)), Box::default())
    }

    /// Refuses a second rule for the content of a value.
    fn refuse_structure(&mut self, rule: &mut Rule) {
        let list = rule.keywords.get("required").is_some_and(serde_json::Value::is_array);
        let has_more = rule.properties.take().is_some()
            | rule.items.take().is_some()
            | rule.additional.take().is_some()
            | list
            | !std::mem::take(&mut rule.required_fields).is_empty();
        if has_more {
            self.issue("properties and items cannot be added to the rule of a type or to a union");
        }
    }

    fn tagged(&mut self, tag: String, variants: Vec<(String, Rule)>, levels: usize) -> Inner {
        let message = self.names(variants.iter().map(|(name, _)| name));
        let mut nodes = Vec::new();
        for (name, rule) in variants {
            if let Some(rule) = self.with_tag(rule, &tag, &name, &mut Vec::new()) {
                let node = self.child(rule, &format!("<{name}>"), levels);
                nodes.push((name.into(), node));
            }
        }
        Inner::Tagged(Tagged { tag: tag.into(), variants: nodes.into(), message })
    }

    fn variants(&mut self, variants: Vec<(String, Option<Rule>)>, levels: usize) -> Inner {
        let message = self.names(variants.iter().map(|(name, _)| name));
        let compile = |(name, rule): (String, Option<Rule>)| {
            let node = rule.map(|rule| self.child(rule, &format!("<{name}>"), levels));
            (name.into(), node)
        };
        let variants = variants.into_iter().map(compile).collect();
        Inner::Variants(Variants { variants, message })
    }

    /// Returns the rule of a variant as one of the whole object, tag included.
    fn with_tag(
        &mut self,
        rule: Rule,
        tag: &str,
        name: &str,
        trail: &mut Vec<Key>,
    ) -> Option<Rule> {
        let known = trail.len();
        let mut rule = self.expand(rule, trail)?;
        let is_object = rule.type_name().is_none_or(|kind| kind == "object");
        match &mut rule.inner {
            Some(InnerRule::Tagged { variants, .. }) => {
                let inner = std::mem::take(variants);
                *variants = inner
                    .into_iter()
                    .filter_map(|(key, inner)| Some((key, self.with_tag(inner, tag, name, trail)?)))
                    .collect();
                if variants.is_empty() {
                    return None;
                }
            }
            None if is_object => {
                let properties = rule.properties.get_or_insert_default();
                let value = Rule::at(rule.location).with("const", name);
                properties.insert(0, (tag.to_owned(), value));
                rule.required_fields.insert(0, tag.to_owned());
                rule.keywords.insert("type".to_owned(), "object".into());
            }
            _ => {
                self.issue(format!("variant `{name}` is no object, so it cannot have a tag"));
                return None;
            }
        }
        trail.truncate(known);
        Some(rule)
    }

    /// Returns the message for an unknown name.
    fn names<'n>(&mut self, names: impl Iterator<Item = &'n String>) -> String {
        let mut seen = HashSet::new();
        let mut shown = Vec::new();
        for name in names {
            if !seen.insert(name) {
                self.issue(format!("variant `{name}` is given twice"));
            }
            shown.push(serde_json::Value::from(name.as_str()).to_string());
        }
        if shown.is_empty() {
            self.issue("a union needs a variant");
        }
        format!("Must be one of: {}", shown.join(", "))
    }
}
