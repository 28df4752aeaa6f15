//! Objects: the required list, properties, unknown keys, counts, in this order.

use stockade_errors::__internal::short_name;

use super::Run;
use super::patch::{ObjectPatch, Patch};
use super::path::Path;
use crate::data::Data;
use crate::node::{AdditionalRule, Node, ObjectRules};

const SLOTS_MAX: usize = 32;

/// What one walk over the input finds.
struct Walk<D> {
    /// The values of the listed properties, in schema order, found without
    /// hashing a key.
    slots: [Option<D>; SLOTS_MAX],
    /// The input, if there are more properties than slots: they are looked up
    /// one by one, so that nothing is allocated.
    object: Option<D>,
    /// How many keys are unknown.
    unknown: usize,
    /// Whether the keys are in the order of the output.
    in_order: bool,
}

/// What becomes of the unknown keys.
#[derive(Clone, Copy)]
enum Unknown<'s> {
    Keep,
    Strip,
    Refuse,
    Check(&'s Node),
}

impl<'s> Run<'_, 's> {
    /// Judges an object with so many members.
    pub(super) fn object<'d>(
        &mut self,
        node: &'s Node,
        object: impl Data<'d>,
        count: usize,
        path: &Path<'_>,
    ) -> Patch<'s> {
        let Some(rules) = node.object.as_deref() else {
            return Patch::Keep;
        };
        let walk = Walk::over(rules, object);
        let mut patch = ObjectPatch {
            rules,
            properties: Vec::new(),
            others: Vec::new(),
            defaults: Vec::new(),
            strip: false,
        };

        self.required_list(node, rules, object, &walk, path);
        self.properties(rules, &walk, path, &mut patch);
        if walk.unknown > 0 {
            match self.unknown(rules) {
                Unknown::Keep => {}
                Unknown::Strip => patch.strip = true,
                Unknown::Refuse => self.refuse(rules, object, path),
                Unknown::Check(other) => self.others(rules, other, object, path, &mut patch),
            }
        }
        self.property_count(node, rules, count, path);

        let unchanged = patch.properties.is_empty()
            && patch.others.is_empty()
            && patch.defaults.is_empty()
            && !patch.strip;
        if unchanged && (walk.in_order || !self.keep) {
            return Patch::Keep;
        }
        Patch::Object(Box::new(patch))
    }

    fn required_list<'d, D: Data<'d>>(
        &mut self,
        node: &Node,
        rules: &ObjectRules,
        object: D,
        walk: &Walk<D>,
        parent: &Path<'_>,
    ) {
        for required in &rules.required {
            let present = match required.index {
                Some(index) => walk.value(rules, index).is_some(),
                None => object.member(&required.name).is_some(),
            };
            if present || required.excused {
                continue;
            }
            let name = &*required.name;
            let path = Path::Field { name, parent };
            let own = required.index.and_then(|at| rules.properties[at].node.message.as_deref());
            self.missing(own.or(node.message.as_deref()), &path, name);
        }
    }

    fn properties<'d, D: Data<'d>>(
        &mut self,
        rules: &'s ObjectRules,
        walk: &Walk<D>,
        parent: &Path<'_>,
        patch: &mut ObjectPatch<'s>,
    ) {
        for (index, property) in rules.properties.iter().enumerate() {
            if self.done {
                return;
            }
            let node = &property.node;
            let value = walk.value(rules, index);
            if value.is_some_and(|value| self.passes(node, value)) {
                continue;
            }
            let path = Path::Field { name: &property.name, parent };
            if let Some(value) = value {
                let change = self.visit(node, value, &path);
                if !change.is_keep() {
                    patch.properties.push((index, change));
                }
            } else if let Some(default) = &node.default {
                patch.defaults.extend(self.default(default, &path).map(|value| (index, value)));
            } else if node.required && !property.in_required_list {
                self.missing(node.message.as_deref(), &path, &property.name);
            }
        }
    }

    fn unknown(&self, rules: &'s ObjectRules) -> Unknown<'s> {
        if let AdditionalRule::Node(node) = &rules.additional {
            return Unknown::Check(node);
        }
        if self.options.strip_unknown && rules.lists_properties {
            return Unknown::Strip;
        }
        let refuse = match self.options.allow_unknown {
            Some(false) => !matches!(rules.additional, AdditionalRule::Allowed),
            Some(true) => false,
            None => matches!(rules.additional, AdditionalRule::Refused),
        };
        if refuse { Unknown::Refuse } else { Unknown::Keep }
    }

    fn refuse<'d>(&mut self, rules: &ObjectRules, object: impl Data<'d>, parent: &Path<'_>) {
        for (name, _) in unknown_keys(rules, object) {
            if self.done {
                return;
            }
            let path = Path::Field { name, parent };
            let message = format!("Unknown field '{}'", short_name(name));
            self.push(&path, message, "additionalProperties");
        }
    }

    fn others<'d>(
        &mut self,
        rules: &ObjectRules,
        node: &'s Node,
        object: impl Data<'d>,
        parent: &Path<'_>,
        patch: &mut ObjectPatch<'s>,
    ) {
        for (index, (name, value)) in unknown_keys(rules, object).enumerate() {
            if self.done {
                return;
            }
            if self.passes(node, value) {
                continue;
            }
            let change = self.visit(node, value, &Path::Field { name, parent });
            if !change.is_keep() {
                patch.others.push((index, change));
            }
        }
    }

    fn property_count(&mut self, node: &Node, rules: &ObjectRules, count: usize, path: &Path<'_>) {
        if let Some(least) = rules.min_properties
            && count < least
        {
            self.fail(node, path, "minProperties", || {
                format!("Object must have at least {least} properties")
            });
        }
        if let Some(most) = rules.max_properties
            && count > most
        {
            self.fail(node, path, "maxProperties", || {
                format!("Object must have at most {most} properties")
            });
        }
    }
}

impl<'d, D: Data<'d>> Walk<D> {
    fn over(rules: &ObjectRules, object: D) -> Self {
        let mut walk = Self {
            slots: [None; SLOTS_MAX],
            object: (rules.properties.len() > SLOTS_MAX).then_some(object),
            unknown: 0,
            in_order: true,
        };
        let mut hint = 0;
        for (name, value) in object.members() {
            let Some(index) = rules.find(name, hint) else {
                walk.unknown += 1;
                continue;
            };
            walk.in_order &= index >= hint && walk.unknown == 0;
            hint = index + 1;
            if let Some(slot) = walk.slots.get_mut(index) {
                *slot = Some(value);
            }
        }
        walk
    }

    #[inline]
    fn value(&self, rules: &ObjectRules, index: usize) -> Option<D> {
        match self.object {
            None => self.slots.get(index).copied().flatten(),
            Some(object) => object.member(&rules.properties[index].name),
        }
    }
}

/// The keys that are not listed, in input order.
fn unknown_keys<'d, D: Data<'d>>(
    rules: &ObjectRules,
    object: D,
) -> impl Iterator<Item = (&'d str, D)> {
    let mut hint = 0;
    object.members().filter_map(move |(name, value)| match rules.find(name, hint) {
        Some(index) => {
            hint = index + 1;
            None
        }
        None => Some((name, value)),
    })
}
