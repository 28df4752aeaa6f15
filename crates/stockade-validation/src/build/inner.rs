//! Compiles the references, unions and tuples of a rule.

use std::collections::HashSet;

use super::compile::Compiler;
use serde_json::{Value, json};

use crate::inner::{FirstOfRule, InnerRule, Key, TaggedRule, VariantsRule};
use crate::node::{FirstOf, Inner, Node, Tagged, Variants};
use crate::rule::Rule;

impl Compiler<'_> {
    /// Compiles `inner`. The second result contains the rules for the positions
    /// of a tuple.
    pub(super) fn inner(
        &mut self,
        rule: &mut Rule,
        levels: usize,
    ) -> (Option<Box<Inner>>, Box<[Node]>) {
        let Some(inner) = rule.inner.take() else {
            return (None, Box::default());
        };
        // A tuple can be combined with rules for further elements and with
        // rules for objects.
        if !matches!(inner, InnerRule::Tuple(_)) {
            self.refuse_structure(rule);
        }
        let inner = match inner {
            InnerRule::Reference(reference) => {
                let direction = self.direction;
                Inner::Definition(self.state.definitions.place(reference, direction))
            }
            InnerRule::Tagged(union) => self.tagged(union, levels),
            InnerRule::Variants(union) => self.variants(union, levels),
            InnerRule::FirstOf(union) => self.first_of(union, levels),
            InnerRule::Tuple(elements) => {
                let elements = elements.into_iter().enumerate();
                let nodes =
                    elements.map(|(index, rule)| self.child(rule, &format!("[{index}]"), levels));
                return (None, nodes.collect());
            }
        };
        (Some(Box::new(inner)), Box::default())
    }

    /// Reports properties and items in a rule that already describes the
    /// content.
    fn refuse_structure(&mut self, rule: &mut Rule) {
        let list = rule.keywords.get("required").is_some_and(Value::is_array);
        let has_more = rule.properties.take().is_some()
            | rule.items.take().is_some()
            | rule.additional.take().is_some()
            | list
            | !std::mem::take(&mut rule.required_fields).is_empty();
        if has_more {
            self.issue("properties and items cannot be added to the rule of a type or to a union");
        }
    }

    fn tagged(&mut self, union: TaggedRule, levels: usize) -> Inner {
        let TaggedRule { tag, variants, other, absent } = union;
        let message = self.names(variants.iter().map(|(name, _)| name));
        let names: Vec<Value> = variants.iter().map(|(name, _)| name.as_str().into()).collect();
        let mut nodes = Vec::new();
        for (name, rule) in variants {
            let value = Rule::at(rule.location).with("const", name.as_str());
            if let Some(rule) = self.with_tag(rule, &tag, &name, &value, &mut Vec::new()) {
                let node = self.child(rule, &format!("<{name}>"), levels);
                nodes.push((name.into(), node));
            }
        }
        let other = other.and_then(|rule| {
            let value = Rule::at(rule.location).with("type", "string");
            let value = value.documented(json!({ "not": { "enum": names } }));
            let rule = self.with_tag(*rule, &tag, "other", &value, &mut Vec::new())?;
            Some(Box::new(self.child(rule, "<other>", levels)))
        });
        let absent = absent.map(|rule| Box::new(self.child(*rule, "", levels)));
        let variants = nodes.into();
        Inner::Tagged(Tagged { tag: tag.into(), variants, other, absent, message })
    }

    fn first_of(&mut self, union: FirstOfRule, levels: usize) -> Inner {
        let FirstOfRule { variants, choice, mut keys } = union;
        if variants.is_empty() {
            self.issue("a union must have at least one variant");
        }
        let shown: Vec<String> = keys.iter().map(|key| json!(key).to_string()).collect();
        keys.sort_unstable();
        let compile = |(index, rule)| self.child(rule, &format!("<{}>", index + 1), levels);
        Inner::FirstOf(FirstOf {
            variants: variants.into_iter().enumerate().map(compile).collect(),
            choice,
            keys: keys.into_iter().map(Into::into).collect(),
            message: format!("Must have only one of: {}", shown.join(", ")),
        })
    }

    fn variants(&mut self, union: VariantsRule, levels: usize) -> Inner {
        let VariantsRule { variants, has_other } = union;
        let message = self.names(variants.iter().map(|(name, _)| name));
        let compile = |(name, rule): (String, Option<Rule>)| {
            let node = rule.map(|rule| self.child(rule, &format!("<{name}>"), levels));
            (name.into(), node)
        };
        let variants = variants.into_iter().map(compile).collect();
        Inner::Variants(Variants { variants, has_other, message })
    }

    /// Returns the rule of a variant as a rule for the whole object, including
    /// the tag.
    fn with_tag(
        &mut self,
        rule: Rule,
        tag: &str,
        name: &str,
        value: &Rule,
        trail: &mut Vec<Key>,
    ) -> Option<Rule> {
        let known = trail.len();
        let mut rule = self.expand(rule, trail)?;
        let is_object = rule.type_name().is_none_or(|kind| kind == "object");
        match &mut rule.inner {
            Some(InnerRule::Tagged(TaggedRule { variants, other, absent, .. })) => {
                let mut tag = |inner| self.with_tag(inner, tag, name, value, trail);
                let inner = std::mem::take(variants).into_iter();
                *variants = inner.filter_map(|(key, inner)| Some((key, tag(inner)?))).collect();
                for rule in [other, absent] {
                    *rule = rule.take().and_then(|inner| tag(*inner)).map(Box::new);
                }
                if variants.is_empty() {
                    return None;
                }
            }
            Some(InnerRule::FirstOf(union)) => {
                let inner = std::mem::take(&mut union.variants).into_iter();
                // Keep the order, because serde's choice is an index.
                let tag_one = |inner| {
                    let never = Rule { boolean: Some(false), ..Rule::at(rule.location) };
                    self.with_tag(inner, tag, name, value, trail).unwrap_or(never)
                };
                union.variants = inner.map(tag_one).collect();
                let hidden = vec![tag.to_owned()];
                union.choice = union.choice.take().map(|choice| choice.without(hidden, None));
            }
            None if is_object => {
                let properties = rule.properties.get_or_insert_default();
                properties.insert(0, (tag.to_owned(), value.clone()));
                rule.required_fields.insert(0, tag.to_owned());
                rule.keywords.insert("type".to_owned(), "object".into());
            }
            _ => {
                self.issue(format!("variant `{name}` is not an object, so it cannot have a tag"));
                return None;
            }
        }
        trail.truncate(known);
        Some(rule)
    }

    /// Returns the error message for an unknown name.
    fn names<'n>(&mut self, names: impl Iterator<Item = &'n String>) -> String {
        let mut seen = HashSet::new();
        let mut shown = Vec::new();
        for name in names {
            if !seen.insert(name) {
                self.issue(format!("duplicate variant `{name}`"));
            }
            shown.push(Value::from(name.as_str()).to_string());
        }
        if shown.is_empty() {
            self.issue("a union must have at least one variant");
        }
        format!("Must be one of: {}", shown.join(", "))
    }
}
