//! Unions without a tag: the first variant that fits is validated.
//!
//! The variant must be the one that serde builds from the changed value. The types and required
//! properties of the rules find it; if the union is an enum that serde reads, its choice decides.

use std::collections::HashMap;

use super::fit::{Fitting, Known};
use super::patch::Patch;
use super::path::Path;
use super::sink::Sink;
use super::walk::{Holder, Walk};
use crate::data::{Data, Kind};
use crate::node::{FirstOf, Violation};

/// The choices of a walk so far, by the addresses of a union and of its value.
#[derive(Debug, Default)]
pub(super) struct Choices {
    known: Known,
    chosen: HashMap<(usize, usize), usize>,
    /// The number of unions around the current value.
    depth: usize,
}

/// The number of values that serde may look at for a value of a union, apart from a number that
/// grows with its size. serde reads a union inside of another one again for each variant of the
/// outer one, which would take exponential time.
const MAX_WORK: u64 = 100_000;

/// As above, for each value and each variant.
const MAX_WORK_EACH: u64 = 64;

const NO_VARIANT: Violation<'_> =
    Violation::Rule("anyOf", "Value matches none of the alternatives");

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    pub(super) fn fitting(&mut self) -> Fitting<'_, 's> {
        let choices = self.choices.get_or_insert_default();
        Fitting::new(self.definitions, self.options, &mut choices.known)
    }

    /// Validates a value by the first variant that fits.
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
        let key = (std::ptr::from_ref(union).addr(), value.address());
        let is_container = matches!(value.kind(), Kind::Array(_) | Kind::Object(_));
        let holder = Holder { message, required: None };
        let choices = self.choices.get_or_insert_default();
        let chosen = choices.chosen.get(&key).filter(|_| is_container).copied();
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
        if is_container {
            choices.chosen.insert(key, chosen);
        }
        change
    }

    /// Returns the variant with the change that it makes; `None` if there is no such variant.
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
        // A type may read more than its rule describes. Its rule decides then.
        let chosen = union.choice.as_ref().and_then(|choice| choice.of(&value.to_value()));
        if let Some((index, variant)) = chosen.and_then(|it| Some((it, union.variants.get(it)?))) {
            let before = self.sink.checkpoint();
            let change = self.prepared(variant, value, path, holder);
            let is_right = is_chosen(union, index, value, change.as_ref());
            if !is_right && !self.sink.has_noted_since(&before) {
                // The change makes another variant of it.
                self.sink.note(path, holder.message, NO_VARIANT);
            }
            self.sink.resume(&before);
            return Some((index, change));
        }
        self.note_closest(union, value, path, holder);
        None
    }

    /// Notes the errors of the closest variant.
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

    /// Returns the number of steps that a value may take. Only the outermost union limits them.
    fn limit<'d>(&self, union: &FirstOf, value: impl Data<'d>) -> u64 {
        if self.choices.as_ref().is_some_and(|choices| choices.depth > 1) {
            return u64::MAX;
        }
        let variants = u64::try_from(union.variants.len()).unwrap_or(u64::MAX);
        let size = u64::try_from(value.size()).unwrap_or(u64::MAX);
        let size = size.saturating_mul(variants.saturating_add(MAX_WORK_EACH));
        size.saturating_add(MAX_WORK)
    }

    /// Runs work on a value that is not part of the data, whose address may be used again.
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

/// Returns true if serde builds this variant of the changed value.
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
