//! Finds the parts of a value that a schema's keywords describe, for
//! `unevaluatedItems` and `unevaluatedProperties`.
//!
//! Source: JSON Schema 2020-12, core, section 11.

use std::ops::ControlFlow::{self, Continue};

use super::path::Path;
use super::sink::Sink;
use super::walk::Walk;
use crate::data::{Data, Kind};
use crate::node::{AdditionalRule, Applicators, ArrayRules, Inner, Node, ObjectRules};

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    /// Marks the elements or members that the node describes. The value must
    /// match the node. If `with_rest` is set and the node has its own rule for
    /// the rest, everything is marked.
    ///
    /// Returns `Break` if the result is unknown. The reason has already been
    /// reported.
    pub(super) fn evaluate<'d>(
        &mut self,
        node: &'s Node,
        with_rest: bool,
        value: impl Data<'d>,
        path: &Path<'_>,
        seen: &mut [bool],
    ) -> ControlFlow<()> {
        match (value.kind(), node.array.as_deref(), node.object.as_deref()) {
            (Kind::Array(_), Some(rules), _) => items(rules, seen),
            (Kind::Object(_), _, Some(rules)) => members(rules, value, seen),
            _ => {}
        }
        match node.inner.as_deref() {
            None => {}
            Some(Inner::Definition(place)) => {
                if let Some(definition) = self.definitions.get(*place) {
                    self.evaluate(&definition.node, true, value, path, seen)?;
                }
            }
            Some(Inner::Tagged(tagged)) => {
                if let Some(variant) = tagged.variant_of(value) {
                    self.evaluate(variant, true, value, path, seen)?;
                }
            }
            Some(Inner::FirstOf(union)) => {
                let chosen = self.fitting().choice(union, value);
                if let Some(variant) = chosen.and_then(|place| union.variants.get(place)) {
                    self.evaluate(variant, true, value, path, seen)?;
                }
            }
            // The variant's name is the only key.
            Some(Inner::Variants(_)) => seen.fill(true),
        }
        match node.applicators.as_deref() {
            Some(applicators) => self.evaluate_by(applicators, with_rest, value, path, seen),
            None => Continue(()),
        }
    }

    fn evaluate_by<'d>(
        &mut self,
        applicators: &'s Applicators,
        with_rest: bool,
        value: impl Data<'d>,
        path: &Path<'_>,
        seen: &mut [bool],
    ) -> ControlFlow<()> {
        let has_rest = match value.kind() {
            Kind::Array(_) => applicators.unevaluated_items.is_some(),
            Kind::Object(_) => applicators.unevaluated_properties.is_some(),
            _ => true,
        };
        if with_rest && has_rest {
            seen.fill(true);
            return Continue(());
        }
        if let Some(contains) = &applicators.contains {
            for (index, item) in value.items().enumerate() {
                let path = Path::Item { index, parent: path };
                if self.follows(&contains.node, item, &path)?
                    && let Some(seen) = seen.get_mut(index)
                {
                    *seen = true;
                }
            }
        }
        let branches = applicators.all_of.iter().chain(&applicators.any_of);
        for branch in branches.chain(&applicators.one_of) {
            if self.follows(branch, value, path)? {
                self.evaluate(branch, true, value, path, seen)?;
            }
        }
        if let Some(condition) = &applicators.condition {
            let next = if self.follows(&condition.condition, value, path)? {
                self.evaluate(&condition.condition, true, value, path, seen)?;
                &condition.then
            } else {
                &condition.otherwise
            };
            if let Some(next) = next
                && self.follows(next, value, path)?
            {
                self.evaluate(next, true, value, path, seen)?;
            }
        }
        for (name, branch) in &applicators.dependent_schemas {
            if value.member(name).is_some() && self.follows(branch, value, path)? {
                self.evaluate(branch, true, value, path, seen)?;
            }
        }
        Continue(())
    }
}

fn items(rules: &ArrayRules, seen: &mut [bool]) {
    let described =
        if rules.items.is_some() { seen.len() } else { rules.places.len().min(seen.len()) };
    seen[..described].fill(true);
}

fn members<'d>(rules: &ObjectRules, value: impl Data<'d>, seen: &mut [bool]) {
    let describes_all = match rules.additional {
        AdditionalRule::Allowed | AdditionalRule::Refused | AdditionalRule::Node(_) => true,
        AdditionalRule::Unsaid | AdditionalRule::Elsewhere => false,
    };
    if describes_all {
        return seen.fill(true);
    }
    for (index, ((name, _), seen)) in value.members().zip(seen).enumerate() {
        *seen |= rules.find_listed(name, index).is_some()
            || rules.patterns.iter().any(|pattern| pattern.has(name));
    }
}
