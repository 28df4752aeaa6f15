//! Unions without a tag: validates the value with the first matching variant.
//!
//! serde must build the same variant from the changed value. The types and
//! required properties of the rules select the variant. If serde reads the
//! union as an enum, serde's choice decides.

use std::collections::HashMap;

use super::fit::{Fitting, Key, Known, key_of};
use super::patch::Patch;
use super::path::Path;
use super::sink::Sink;
use super::walk::{Holder, Walk};
use crate::data::Data;
use crate::node::{FirstOf, Violation};

/// The choices made so far.
#[derive(Debug, Default)]
pub(super) struct Choices {
    known: Known,
    chosen: HashMap<Key, usize>,
    /// The number of unions that enclose the current value.
    depth: usize,
}

/// Base limit on the number of values that serde may visit to read one union.
/// The full limit grows with the size of the value. For each variant of an
/// outer union, serde reads an inner union again, which could take exponential
/// time.
const MAX_WORK: u64 = 100_000;

/// Additional visits for each value, plus one for each variant.
const MAX_WORK_EACH: u64 = 64;

const NO_VARIANT: Violation<'_> =
    Violation::Rule("anyOf", "Value matches none of the alternatives");

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    pub(super) fn fitting(&mut self) -> Fitting<'_, 's> {
        let choices = self.choices.get_or_insert_default();
        Fitting::new(self.definitions, self.options, &mut choices.known)
    }

    /// Validates a value with the first matching variant.
    pub(super) fn first_of<'d>(
        &mut self,
        union: &'s FirstOf,
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&'s str>,
    ) -> Option<S::Change> {
        if has_two_keys(union, value) {
            self.sink.note(path, message, Violation::Shown("oneOf", &union.message));
            return None;
        }
        let key = key_of(union, value);
        let holder = Holder { message, required: None };
        let choices = self.choices.get_or_insert_default();
        let chosen = key.and_then(|key| choices.chosen.get(&key).copied());
        if let Some(variant) = chosen.and_then(|index| union.variants.get(index)) {
            return self.prepared(variant, value, path, holder);
        }
        choices.depth += 1;
        // serde reads the changed value.
        let keep = self.keep;
        self.keep |= union.choice.is_some();
        let chosen = self.choose(union, value, path, holder);
        self.keep = keep;
        let choices = self.choices.get_or_insert_default();
        choices.depth -= 1;
        let (chosen, change) = chosen?;
        if let Some(key) = key {
            choices.chosen.insert(key, chosen);
        }
        change
    }

    /// Returns the matching variant and its change. Returns `None` if no
    /// variant matches.
    fn choose<'d>(
        &mut self,
        union: &'s FirstOf,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<(usize, Option<S::Change>)> {
        let limit = self.limit(union, value);
        let mut work: u64 = 0;
        for (index, variant) in union.variants.iter().enumerate() {
            let misfit = self.fitting().of(variant, value);
            work = work.saturating_add(misfit.work);
            if work > limit {
                self.exhaust(path);
                self.is_over = true;
                return None;
            }
            if misfit.errors > 0 {
                continue;
            }
            let before = self.sink.checkpoint();
            let change = self.prepared(variant, value, path, holder);
            if self.sink.has_given_up() || is_chosen(union, index, value, change.as_ref()) {
                self.sink.resume(&before);
                return Some((index, change));
            }
            self.sink.rewind(before);
            if self.sink.is_done() {
                return None;
            }
        }
        // A type may accept more than its rule describes. In this case,
        // validate with the rule of serde's choice.
        let chosen = union.choice.as_ref().and_then(|choice| choice.of(&value.to_value()));
        if let Some((index, variant)) = chosen.and_then(|it| Some((it, union.variants.get(it)?))) {
            let before = self.sink.checkpoint();
            let change = self.prepared(variant, value, path, holder);
            let is_right = is_chosen(union, index, value, change.as_ref());
            if !is_right && !self.sink.has_noted_since(&before) {
                // The change makes serde build a different variant.
                self.sink.note(path, holder.message, NO_VARIANT);
            }
            self.sink.resume(&before);
            return Some((index, change));
        }
        self.note_closest(union, value, path, holder);
        None
    }

    /// Reports the errors of the closest variant.
    fn note_closest<'d>(
        &mut self,
        union: &'s FirstOf,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) {
        let before = self.sink.checkpoint();
        if !S::IS_QUIET {
            let closest = self.fitting().closest(union, value);
            if let Some(variant) = closest.and_then(|place| union.variants.get(place)) {
                self.prepared(variant, value, path, holder);
            }
        }
        if !self.sink.has_noted_since(&before) {
            self.sink.note(path, holder.message, NO_VARIANT);
        }
        self.is_over = true;
    }

    /// Returns the limit on the work for a value. Only the outermost union has
    /// a limit.
    fn limit<'d>(&self, union: &FirstOf, value: impl Data<'d>) -> u64 {
        if self.choices.as_ref().is_some_and(|choices| choices.depth > 1) {
            return u64::MAX;
        }
        let variants = u64::try_from(union.variants.len()).unwrap_or(u64::MAX);
        let size = u64::try_from(value.size()).unwrap_or(u64::MAX);
        let size = size.saturating_mul(variants.saturating_add(MAX_WORK_EACH));
        size.saturating_add(MAX_WORK)
    }

    /// Runs work on a temporary value. Its address may be reused, so the
    /// choices made so far are set aside.
    pub(super) fn apart<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let kept = self.choices.take();
        let result = work(self);
        self.choices = kept;
        result
    }
}

fn has_two_keys<'d>(union: &FirstOf, value: impl Data<'d>) -> bool {
    let is_key = |name: &str| union.keys.binary_search_by(|key| (**key).cmp(name)).is_ok();
    !union.keys.is_empty() && value.members().filter(|(name, _)| is_key(name)).nth(1).is_some()
}

/// Returns true if serde builds this variant from the changed value.
fn is_chosen<'d, 's>(
    union: &FirstOf,
    index: usize,
    value: impl Data<'d>,
    change: Option<&(impl Clone + Into<Patch<'s>>)>,
) -> bool {
    let Some(choice) = &union.choice else { return true };
    let value = value.to_value();
    let chosen = match change {
        None => choice.of(&value),
        Some(change) => choice.of(&change.clone().into().apply(value.into_owned())),
    };
    chosen == Some(index)
}

#[cfg(test)]
#[cfg(feature = "derive")]
mod tests;
