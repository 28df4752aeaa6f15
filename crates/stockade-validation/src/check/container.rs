//! Validates arrays and objects with their content.

use super::patch::{ObjectPatch, Patch, Strip};
use super::path::Path;
use super::sink::Sink;
use super::walk::{Holder, Walk};
use crate::data::Data;
use crate::function::Default;
use crate::node::{ArrayRules, Member, Node, ObjectRules, ObjectState, Property, Violation};

const SLOTS_MAX: usize = 32;

/// The values of the listed properties in schema order, found without hashing
/// names.
struct Slots<D> {
    values: [Option<D>; SLOTS_MAX],
    /// The object, if it has more properties than slots. Each property is then
    /// looked up separately, which avoids an allocation.
    object: Option<D>,
    /// The object, if it has a property under an alias.
    aliased: Option<D>,
}

impl<'d, D: Data<'d>> Slots<D> {
    #[inline]
    fn value(&self, rules: &ObjectRules, index: usize) -> Option<D> {
        match self.object {
            None => self.values.get(index).copied().flatten(),
            Some(object) => {
                let own = object.member(&rules.entries[index].name);
                own.or_else(|| object.member(rules.names_in(self.aliased?, index).next()?))
            }
        }
    }

    /// Returns the property's name in the object, which may be an alias.
    fn name<'s>(&self, rules: &'s ObjectRules, index: usize) -> &'s str {
        let further = self.aliased.and_then(|object| rules.names_in(object, index).next());
        further.unwrap_or(&rules.entries[index].name)
    }
}

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    /// Validates an array of `count` elements: counts, uniqueness, elements.
    pub(super) fn array<'d>(
        &mut self,
        rules: &'s ArrayRules,
        array: impl Data<'d>,
        count: usize,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Option<S::Change> {
        let sink = &mut self.sink;
        let _validated = rules.validate(array, count, |broken| sink.tell(path, message, broken));
        let mut patches = Vec::new();
        for (index, item) in array.items().enumerate() {
            if self.sink.is_done() {
                break;
            }
            let Some(node) = rules.at(index) else {
                self.skip(item);
                continue;
            };
            if let Some(change) = self.visit(node, item, || Path::Item { index, parent: path }) {
                patches.push((index, change.into()));
            }
        }
        if patches.is_empty() {
            return None;
        }
        self.sink.change(|| Patch::Array(patches))
    }

    /// Validates an object of `count` members: the required list, properties in
    /// schema order, unlisted members, counts.
    pub(super) fn object<'d, D: Data<'d>>(
        &mut self,
        node: &'s Node,
        rules: &'s ObjectRules,
        object: D,
        count: usize,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        if S::IS_QUIET {
            self.object_as_it_comes(rules, object, count, path);
            return None;
        }
        let mut state = ObjectState::new(rules);
        let mut slots = Slots {
            values: [None; SLOTS_MAX],
            object: (rules.listed > SLOTS_MAX).then_some(object),
            aliased: None,
        };
        for (name, value) in object.members() {
            if let Member::Listed(index, _) = state.member_inline(name, self.options)
                && let Some(slot) = slots.values.get_mut(index)
            {
                *slot = Some(value);
            }
        }
        if state.has_alias {
            slots.aliased = Some(object);
            self.twice(rules, object, path);
        }

        if state.misses_required() {
            self.required_list(node, rules, object, path);
        }
        let mut patch = ObjectPatch::new(rules);
        self.properties(&slots, path, &mut patch);
        if state.has_unlisted {
            self.unlisted(object, path, &mut patch);
        }
        let sink = &mut self.sink;
        let message = holder.message(node);
        let _validated = rules.validate(object, count, |broken| sink.tell(path, message, broken));

        if patch.is_empty() && !(state.is_mixed && self.keep) {
            return None;
        }
        self.sink.change(|| Patch::Object(Box::new(patch)))
    }

    /// Validates the members in their own order. The order does not matter
    /// because a quiet walk does not report errors.
    fn object_as_it_comes<'d>(
        &mut self,
        rules: &'s ObjectRules,
        object: impl Data<'d>,
        count: usize,
        path: &Path<'_>,
    ) {
        let mut state = ObjectState::new(rules);
        let mut stays = true;
        for (name, value) in object.members() {
            let node = match state.member_inline(name, self.options) {
                Member::Listed(_, node) | Member::Validator(node) => node,
                kept @ (Member::Keep | Member::Strip) => {
                    stays &= matches!(kept, Member::Keep);
                    self.skip(value);
                    continue;
                }
                Member::Refuse => return self.sink.note(path, None, Violation::Unknown(name)),
            };
            self.visit(node, value, || Path::Field { name, parent: path });
            if self.sink.is_done() {
                return;
            }
        }
        if state.misses_required() {
            return self.sink.note(path, None, Violation::Required);
        }
        if state.has_alias {
            self.twice(rules, object, path);
        }
        let sink = &mut self.sink;
        let validated = rules.validate(object, count, |broken| sink.tell(path, None, broken));
        let stays = stays && !state.is_mixed && state.next_default().is_none();
        if validated.is_continue() && self.keep && !stays {
            self.sink.takes_change();
        }
    }

    /// Reports a property that the object has under two names.
    fn twice<'d>(&mut self, rules: &'s ObjectRules, object: impl Data<'d>, parent: &Path<'_>) {
        if let Some(Property { name, .. }) = rules.twice_in(object) {
            let path = Path::Field { name, parent };
            self.sink.note(&path, None, Violation::Twice(name));
        }
    }

    fn required_list<'d>(
        &mut self,
        node: &Node,
        rules: &ObjectRules,
        object: impl Data<'d>,
        parent: &Path<'_>,
    ) {
        for index in &rules.required_list {
            let entry = &rules.entries[*index];
            if entry.node.default.is_some() || rules.names_in(object, *index).next().is_some() {
                continue;
            }
            let path = Path::Field { name: &entry.name, parent };
            let message = entry.node.message.as_deref().or(node.message.as_deref());
            self.sink.note(&path, message, Violation::Required);
        }
    }

    fn properties<'d, D: Data<'d>>(
        &mut self,
        slots: &Slots<D>,
        parent: &Path<'_>,
        patch: &mut ObjectPatch<'s>,
    ) {
        let rules = patch.rules;
        for (index, property) in rules.properties().iter().enumerate() {
            if self.sink.is_done() {
                return;
            }
            let node = &property.node;
            let path = || Path::Field { name: slots.name(rules, index), parent };
            if let Some(value) = slots.value(rules, index) {
                if let Some(change) = self.visit(node, value, path) {
                    patch.properties.push((index, change.into()));
                }
            } else if let Some(default) = &node.default {
                self.default(index, default, &path(), patch);
            } else if node.required && !property.in_required_list {
                self.sink.note(&path(), node.message.as_deref(), Violation::Required);
            }
        }
    }

    /// Records the default of an absent property if the caller needs it.
    fn default(
        &mut self,
        index: usize,
        default: &Default,
        path: &Path<'_>,
        patch: &mut ObjectPatch<'s>,
    ) {
        if !self.keep || !self.sink.takes_change() {
            return;
        }
        match default.value(&path.to_string()) {
            Ok(value) => patch.defaults.push((index, value)),
            Err(failure) => self.sink.fail(failure),
        }
    }

    fn unlisted<'d>(
        &mut self,
        object: impl Data<'d>,
        parent: &Path<'_>,
        patch: &mut ObjectPatch<'s>,
    ) {
        let rules = patch.rules;
        if rules.patterns.is_empty() {
            match rules.unlisted("", self.options) {
                Member::Keep | Member::Listed(..) => return,
                Member::Strip => {
                    patch.strip = Strip::All;
                    return;
                }
                Member::Refuse | Member::Validator(_) => {}
            }
        }
        let mut hint = 0;
        let others = object.members().filter(|(name, _)| {
            let index = rules.find_listed(name, hint);
            hint = index.map_or(hint, |index| index + 1);
            index.is_none()
        });
        for (index, (name, value)) in others.enumerate() {
            if self.sink.is_done() {
                return;
            }
            let path = Path::Field { name, parent };
            match rules.unlisted(name, self.options) {
                Member::Validator(node) => {
                    if let Some(change) = self.visit(node, value, || path) {
                        patch.others.push((index, change.into()));
                    }
                }
                Member::Refuse => self.sink.note(&path, None, Violation::Unknown(name)),
                Member::Strip => patch.strip.add(index),
                Member::Keep | Member::Listed(..) => {}
            }
        }
    }
}
