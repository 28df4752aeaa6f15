//! Rules without the marked places, for the schemas that clients see.

use std::collections::HashSet;

use serde_json::Value;

use super::Mark;
use crate::inner::{FirstOfRule, InnerRule, Key, Reference, TaggedRule, VariantsRule};
use crate::rule::{Additional, Rule};

/// A view of a rule by its marks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum View {
    /// A whole value that a client sends: without the read-only places.
    Sent,
    /// Like [`Sent`](Self::Sent), but write-only properties are optional: an
    /// absent property retains its stored value.
    Change,
    /// A value that a client receives: without the write-only places.
    Shown,
}

impl View {
    fn removed(self) -> Mark {
        match self {
            Self::Sent | Self::Change => Mark::ReadOnly,
            Self::Shown => Mark::WriteOnly,
        }
    }

    /// Returns the suffix for the document name of a changed type.
    fn suffix(self) -> &'static str {
        match self {
            Self::Sent => "Input",
            Self::Change => "Change",
            Self::Shown => "Output",
        }
    }

    /// Returns true if the view changes a place with this mark.
    fn changes(self, mark: Mark) -> bool {
        mark == self.removed() || self == Self::Change
    }
}

/// The maximum number of consecutive references that are followed without a
/// step into the value.
const MAX_FOLLOWED: usize = 128;

const BOTH: [Mark; 2] = [Mark::ReadOnly, Mark::WriteOnly];

impl Rule {
    /// Returns true if a place inside a property has the mark but the property
    /// itself does not.
    #[doc(hidden)]
    #[must_use]
    pub fn has_inner_mark(&self, mark: Mark) -> bool {
        let target = target(self);
        let properties = target.properties.iter().flatten();
        let flattened = target.flattened.iter();
        let mut unmarked = properties.filter(|(_, rule)| !is_marked(rule, mark));
        unmarked.any(|(_, rule)| leads_to(rule, &[mark], &mut HashSet::new()))
            || flattened.filter(|rule| !is_marked(rule, mark)).any(|it| it.has_inner_mark(mark))
            || additional(&target).is_some_and(|rule| leads_to(rule, &[mark], &mut HashSet::new()))
            || target.written.as_ref().is_some_and(|written| written.has_inner_mark(mark))
    }

    /// Returns true if an alternative or condition in the rule has the mark,
    /// which has no effect there.
    #[doc(hidden)]
    #[must_use]
    pub fn has_marked_part(&self, mark: Mark) -> bool {
        has_marked_part(self, mark, &mut HashSet::new())
    }

    /// Returns the rule of the values that clients receive, or `None` if it
    /// equals this rule because no place is write-only.
    #[doc(hidden)]
    #[must_use]
    pub fn shown(self) -> Option<Self> {
        if !leads_to(&self, &[Mark::WriteOnly], &mut HashSet::new()) {
            return None;
        }
        if is_marked(&self, Mark::WriteOnly) {
            return Some(Self { location: self.location, ..Self::kind("null") });
        }
        Some(self.viewed(View::Shown))
    }

    /// Returns the rule without the places that the view removes, at every
    /// depth. Types without such a place do not change.
    #[doc(hidden)]
    pub fn viewed(self, view: View) -> Self {
        let mut rule = self;
        rule.inner = rule.inner.take().map(|inner| viewed_inner(inner, view));
        let mut removed = Vec::new();
        let mut optional = Vec::new();
        if let Some(properties) = rule.properties.take() {
            let mut kept = Vec::new();
            for (name, mut property) in properties {
                if is_marked(&property, view.removed()) {
                    removed.push(name);
                    continue;
                }
                if view == View::Change && is_marked(&property, Mark::WriteOnly) {
                    property.keywords.remove("required");
                    optional.push(name.clone());
                }
                kept.push((name, property.viewed(view)));
            }
            // A property with separate rules for reading and writing is listed
            // twice.
            removed.retain(|name| kept.iter().all(|(known, _)| known != name));
            rule.properties = Some(kept);
        }
        removed.append(&mut optional);
        rule.forget_required(&removed);
        rule.additional = match rule.additional.take() {
            Some(Additional::Rule(values)) if is_marked(&values, view.removed()) => None,
            Some(Additional::Rule(values)) => Some(Additional::Rule(Box::new(values.viewed(view)))),
            additional => additional,
        };
        rule.items = rule.items.take().map(|items| Box::new(items.viewed(view)));
        let flattened = std::mem::take(&mut rule.flattened).into_iter();
        let flattened = flattened.filter(|rule| !is_marked(rule, view.removed()));
        rule.flattened = flattened.map(|rule| rule.viewed(view)).collect();
        rule.written = rule.written.take().map(|written| Box::new(written.viewed(view)));
        rule.typed = rule.typed.take().map(|typed| Box::new(typed.viewed(view)));
        rule
    }

    /// Removes names from both forms of `required`.
    pub(crate) fn forget_required(&mut self, names: &[String]) {
        self.required_fields.retain(|name| !names.contains(name));
        if let Some(Value::Array(listed)) = self.keywords.get_mut("required") {
            listed.retain(|name| names.iter().all(|removed| name != removed));
        }
    }
}

fn viewed_inner(inner: InnerRule, view: View) -> InnerRule {
    // A place that cannot be removed becomes null.
    let placed = |rule: Rule| {
        if is_marked(&rule, view.removed()) {
            Rule { location: rule.location, ..Rule::kind("null") }
        } else {
            rule.viewed(view)
        }
    };
    match inner {
        InnerRule::Reference(reference) => {
            let marks: Vec<Mark> = BOTH.into_iter().filter(|mark| view.changes(*mark)).collect();
            let is_changed = leads_to(&reference.rule(), &marks, &mut HashSet::new());
            InnerRule::Reference(if is_changed { reference.viewed(view) } else { reference })
        }
        InnerRule::Tagged(TaggedRule { tag, variants, other, absent }) => {
            let viewed = |rule: Rule| {
                if is_marked(&rule, view.removed()) {
                    Rule { location: rule.location, ..Rule::kind("object") }
                } else {
                    rule.viewed(view)
                }
            };
            InnerRule::Tagged(TaggedRule {
                tag,
                variants: variants.into_iter().map(|(name, rule)| (name, viewed(rule))).collect(),
                other: other.map(|rule| Box::new(viewed(*rule))),
                absent: absent.map(|rule| Box::new(viewed(*rule))),
            })
        }
        InnerRule::Variants(VariantsRule { variants, has_other }) => {
            let variants = variants.into_iter().map(|(name, rule)| (name, rule.map(placed)));
            InnerRule::Variants(VariantsRule { variants: variants.collect(), has_other })
        }
        // serde does not read the type from such a value, so it does not choose a variant.
        InnerRule::FirstOf(FirstOfRule { variants, choice: _, keys }) => {
            let variants = variants.into_iter().map(placed).collect();
            InnerRule::FirstOf(FirstOfRule { variants, choice: None, keys })
        }
        InnerRule::Tuple(elements) => InnerRule::Tuple(elements.into_iter().map(placed).collect()),
    }
}

impl Reference {
    fn viewed(self, view: View) -> Self {
        let key = Key::View(Box::new(self.key.clone()), view);
        let name = format!("{}{}", self.name, view.suffix());
        let type_name = self.type_name;
        let mut viewed = Self::new(key, name, move || self.rule().viewed(view));
        viewed.type_name = type_name;
        viewed
    }
}

/// Returns the rule that references refer to, or the rule itself.
fn target(rule: &Rule) -> std::borrow::Cow<'_, Rule> {
    let mut target = std::borrow::Cow::Borrowed(rule);
    for _ in 0..MAX_FOLLOWED {
        let Some(InnerRule::Reference(reference)) = &target.inner else { break };
        target = std::borrow::Cow::Owned(reference.rule());
    }
    target
}

fn additional(rule: &Rule) -> Option<&Rule> {
    match &rule.additional {
        Some(Additional::Rule(rule)) => Some(rule),
        _ => None,
    }
}

/// Returns true if the place of a rule is marked: by the rule, by the type that it refers
/// to, or by the elements of a list.
fn is_marked(rule: &Rule, mark: Mark) -> bool {
    let has_mark = |rule: &Rule| rule.keywords.get(mark.keyword()) == Some(&Value::Bool(true));
    if has_mark(rule) {
        return true;
    }
    let mut next = next(rule);
    for _ in 0..MAX_FOLLOWED {
        let Some(rule) = next else { return false };
        if has_mark(&rule) {
            return true;
        }
        next = self::next(&rule);
    }
    false
}

/// Returns the rule that a reference refers to, or the rule of a list's
/// elements.
fn next(rule: &Rule) -> Option<Rule> {
    match &rule.inner {
        Some(InnerRule::Reference(reference)) => Some(reference.rule()),
        _ => rule.items.as_deref().cloned(),
    }
}

/// Returns true if the rule or a place inside it has one of the marks.
fn leads_to(rule: &Rule, marks: &[Mark], seen: &mut HashSet<Key>) -> bool {
    if marks.iter().any(|mark| rule.keywords.get(mark.keyword()) == Some(&Value::Bool(true))) {
        return true;
    }
    if inside(rule).any(|part| leads_to(part, marks, seen)) {
        return true;
    }
    match &rule.inner {
        Some(InnerRule::Reference(reference)) => {
            seen.insert(reference.key.clone()) && leads_to(&reference.rule(), marks, seen)
        }
        _ => false,
    }
}

/// Returns true if an alternative or condition in the rule has the mark.
fn has_marked_part(rule: &Rule, mark: Mark, seen: &mut HashSet<Key>) -> bool {
    let mut parts = rule.parts.iter().flat_map(|parts| parts.rules());
    if parts.any(|part| leads_to(part, &[mark], &mut HashSet::new())) {
        return true;
    }
    if inside(rule).any(|part| has_marked_part(part, mark, seen)) {
        return true;
    }
    match &rule.inner {
        Some(InnerRule::Reference(reference)) => {
            seen.insert(reference.key.clone()) && has_marked_part(&reference.rule(), mark, seen)
        }
        _ => false,
    }
}

/// Returns the rules of the places inside a rule, except inside its references,
/// alternatives and conditions.
fn inside(rule: &Rule) -> impl Iterator<Item = &Rule> {
    let variants: Vec<&Rule> = match &rule.inner {
        None | Some(InnerRule::Reference(_)) => Vec::new(),
        Some(InnerRule::Tagged(union)) => {
            let others = union.other.iter().chain(&union.absent).map(|rule| &**rule);
            union.variants.iter().map(|(_, rule)| rule).chain(others).collect()
        }
        Some(InnerRule::FirstOf(union)) => union.variants.iter().collect(),
        Some(InnerRule::Variants(union)) => {
            union.variants.iter().filter_map(|(_, rule)| rule.as_ref()).collect()
        }
        Some(InnerRule::Tuple(elements)) => elements.iter().collect(),
    };
    let places = rule.properties.iter().flatten().map(|(_, rule)| rule);
    let places = places.chain(&rule.flattened).chain(rule.items.as_deref());
    places.chain(additional(rule)).chain(rule.written.as_deref()).chain(variants)
}
