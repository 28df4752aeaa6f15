//! [`Fitting`]: checks whether a value matches the types and required
//! properties of a rule. It ignores keywords that the application adds to its
//! types.
//!
//! The work for each rule is linear in the size of the data, because the result
//! of each union is cached.

use std::collections::HashMap;
use std::ops::ControlFlow::Break;

use super::closest::Candidate;
use super::prepare::{coerce, is_one_of_list};
use crate::data::{Data, Kind};
use crate::depth::MAX_DEPTH;
use crate::node::{
    AdditionalRule, ArrayRules, Definition, FirstOf, Inner, Node, ObjectRules, Tagged, Variants,
};
use crate::number::Num;
use crate::options::ValidationOptions;

/// The result of comparing a value with a rule's types.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Misfit {
    /// The number of wrong types, missing properties and different constants.
    pub(super) errors: usize,
    /// The number of members that no rule lists. They do not affect the choice.
    pub(super) unlisted: usize,
    /// Upper limit on the number of values that serde visits.
    pub(super) work: u64,
}

impl Misfit {
    fn add(&mut self, other: Self) {
        self.errors = self.errors.saturating_add(other.errors);
        self.unlisted = self.unlisted.saturating_add(other.unlisted);
        self.work = self.work.saturating_add(other.work);
    }

    fn error(&mut self) {
        self.errors = self.errors.saturating_add(1);
    }
}

/// The addresses of a union and of its value.
pub(super) type Key = (usize, usize);

/// Returns the key of a union and its value. Returns `None` for a scalar, which is faster to check
/// again.
pub(super) fn key_of<'d>(union: &FirstOf, value: impl Data<'d>) -> Option<Key> {
    let is_container = matches!(value.kind(), Kind::Array(_) | Kind::Object(_));
    is_container.then(|| (std::ptr::from_ref(union).addr(), value.address()))
}

/// The results of unions.
pub(super) type Known = HashMap<Key, Misfit>;

pub(super) struct Fitting<'r, 's> {
    pub(super) definitions: &'s [Definition],
    pub(super) options: &'r ValidationOptions,
    pub(super) known: &'r mut Known,
    /// Remaining nesting levels of the data.
    left: usize,
}

impl<'r, 's> Fitting<'r, 's> {
    pub(super) fn new(
        definitions: &'s [Definition],
        options: &'r ValidationOptions,
        known: &'r mut Known,
    ) -> Self {
        Self { definitions, options, known, left: MAX_DEPTH }
    }

    /// Compares a value with a node's types.
    pub(super) fn of<'d>(&mut self, node: &'s Node, value: impl Data<'d>) -> Misfit {
        let node = node.typed.as_deref().unwrap_or(node);
        let mut misfit = Misfit { work: 1, ..Misfit::default() };
        let kind = value.kind();
        // The type of a transformed value is unknown.
        if node.transform.is_some() || node.nullable && matches!(kind, Kind::Null) {
            return misfit;
        }
        if let Kind::Text(text) = kind
            && self.options.coerce_types
            && let Some(converted) = coerce(node, text, self.options.strict_numbers)
        {
            return self.of(node, &converted);
        }
        if self.options.list_from_one && is_one_of_list(node, kind) {
            if let Some(item) = node.array.as_deref().and_then(|rules| rules.at(0)) {
                misfit.add(self.of(item, value));
            }
            return misfit;
        }
        if node.never || !node.fits_scalar(value) {
            misfit.error();
            return misfit;
        }
        match kind {
            Kind::Array(count) => self.array(node.array.as_deref(), value, count, &mut misfit),
            Kind::Object(_) => self.object(node.object.as_deref(), value, &mut misfit),
            _ => {}
        }
        match node.inner.as_deref() {
            None => {}
            Some(Inner::Definition(place)) => {
                if let Some(definition) = self.definitions.get(*place) {
                    misfit.add(self.of(&definition.node, value));
                }
            }
            Some(Inner::Tagged(union)) => self.tagged(union, value, &mut misfit),
            Some(Inner::Variants(union)) => self.variants(union, value, &mut misfit),
            Some(Inner::FirstOf(union)) => misfit.add(self.first_of(union, value)),
        }
        misfit
    }

    /// Compares a nested value with a node's types.
    fn inside<'d>(&mut self, node: &'s Node, value: impl Data<'d>, misfit: &mut Misfit) {
        let Some(left) = self.left.checked_sub(1) else {
            misfit.error();
            return;
        };
        self.left = left;
        misfit.add(self.of(node, value));
        self.left += 1;
    }

    fn array<'d>(
        &mut self,
        rules: Option<&'s ArrayRules>,
        value: impl Data<'d>,
        count: usize,
        misfit: &mut Misfit,
    ) {
        let Some(rules) = rules else { return };
        if !rules.counts.takes(count) {
            misfit.error();
        }
        for (index, item) in value.items().enumerate() {
            match rules.at(index) {
                Some(node) => self.inside(node, item, misfit),
                None => misfit.work = misfit.work.saturating_add(1),
            }
        }
    }

    fn object<'d>(
        &mut self,
        rules: Option<&'s ObjectRules>,
        value: impl Data<'d>,
        misfit: &mut Misfit,
    ) {
        let Some(rules) = rules else { return };
        let mut hint = 0;
        for (name, value) in value.members() {
            if let Some(index) = rules.find_listed(name, hint) {
                hint = index + 1;
                self.inside(&rules.entries[index].node, value, misfit);
                continue;
            }
            misfit.work = misfit.work.saturating_add(1);
            if let Some(pattern) = rules.patterns.iter().find(|it| it.has(name)) {
                self.inside(&pattern.node, value, misfit);
                continue;
            }
            match &rules.additional {
                AdditionalRule::Node(node) => self.inside(node, value, misfit),
                // serde does not see members that validation removes.
                AdditionalRule::Refused if !self.options.strip_unknown => misfit.error(),
                _ => misfit.unlisted = misfit.unlisted.saturating_add(1),
            }
        }
        for (index, entry) in rules.entries.iter().enumerate() {
            if entry.must_be_present() && rules.names_in(value, index).next().is_none() {
                misfit.error();
            }
        }
        if rules.twice_in(value).is_some() {
            misfit.error();
        }
    }

    fn tagged<'d>(&mut self, union: &'s Tagged, value: impl Data<'d>, misfit: &mut Misfit) {
        match union.variant_of(value) {
            Some(variant) => misfit.add(self.of(variant, value)),
            None => misfit.error(),
        }
    }

    fn variants<'d>(&mut self, union: &'s Variants, value: impl Data<'d>, misfit: &mut Misfit) {
        let mut members = value.members();
        let (name, content) = match (value.kind(), members.next(), members.next()) {
            (Kind::Text(name), ..) => (name, None),
            (_, Some((name, content)), None) => (name, Some(content)),
            _ => return misfit.error(),
        };
        let variant = union.variants.iter().find(|(known, _)| **known == *name);
        match (variant, content) {
            (Some((_, Some(node))), Some(content)) => self.inside(node, content, misfit),
            (Some((_, None)), None) => {}
            (None, None) if union.has_other => {}
            _ => misfit.error(),
        }
    }

    /// Compares a value with a union. Counts one error if no variant matches.
    fn first_of<'d>(&mut self, union: &'s FirstOf, value: impl Data<'d>) -> Misfit {
        let key = key_of(union, value);
        if let Some(known) = key.and_then(|key| self.known.get(&key)) {
            return *known;
        }
        let mut whole = Misfit { errors: 1, ..Misfit::default() };
        for variant in &union.variants {
            let misfit = self.of(variant, value);
            whole.work = whole.work.saturating_add(misfit.work);
            if misfit.errors == 0 {
                whole.errors = 0;
                break;
            }
        }
        if let Some(key) = key {
            self.known.insert(key, whole);
        }
        whole
    }

    /// Returns the index of the first matching variant.
    pub(super) fn choice<'d>(&mut self, union: &'s FirstOf, value: impl Data<'d>) -> Option<usize> {
        union.variants.iter().position(|variant| self.of(variant, value).errors == 0)
    }

    /// Returns the index of the closest variant. The first one wins a tie.
    pub(super) fn closest<'d>(
        &mut self,
        union: &'s FirstOf,
        value: impl Data<'d>,
    ) -> Option<usize> {
        let mut best: Option<(usize, Candidate<'_>)> = None;
        for (place, variant) in union.variants.iter().enumerate() {
            let misfit = self.of(variant, value);
            let errors = misfit.errors.saturating_add(misfit.unlisted);
            let candidate = Candidate::of(variant, self.definitions, value, errors);
            if best.as_ref().is_none_or(|(_, known)| candidate.is_closer_than(known)) {
                best = Some((place, candidate));
            }
        }
        best.map(|(place, _)| place)
    }
}

impl Node {
    /// Returns true if the type and the constants match. A scalar needs no
    /// further checks.
    fn fits_scalar<'d>(&self, value: impl Data<'d>) -> bool {
        match value.kind() {
            Kind::Text(text) => self.fits_text(text),
            Kind::Number(number) => {
                self.validate_number(|| Num::of(number), |_| Break(())).is_continue()
            }
            _ => self.validate_other(value, |_| Break(())).is_continue(),
        }
    }
}
