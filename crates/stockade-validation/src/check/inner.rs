//! Validates values with definitions and unions.

use super::patch::Patch;
use super::path::Path;
use super::sink::Sink;
use super::walk::{Holder, Walk};
use crate::data::{Data, Kind};
use crate::depth::MAX_DEPTH;
use crate::node::{Inner, Node, Tagged, Variants, Violation};

/// Maximum depth of nested definitions. The depth of the data limits it, unless
/// a `transform` of a recursive type keeps adding levels.
const MAX_FOLLOWED: usize = 2 * MAX_DEPTH;

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    /// Validates a value that has the right type.
    pub(super) fn inner<'d>(
        &mut self,
        node: &'s Node,
        inner: &'s Inner,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        match inner {
            Inner::Definition(place) => self.definition(node, *place, value, path, holder),
            Inner::Tagged(tagged) => self.tagged(node, tagged, value, path),
            Inner::FirstOf(union) => self.first_of(union, value, path, holder.message(node)),
            Inner::Variants(variants) => self.variants(variants, value, path, holder.message(node)),
        }
    }

    /// Validates a value with a definition that `node` refers to. The message
    /// of `node` also applies to the value in the definition, but not to its
    /// content.
    fn definition<'d>(
        &mut self,
        node: &'s Node,
        place: usize,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        let definition = self.definitions.get(place)?;
        if self.followed == MAX_FOLLOWED {
            self.sink.note(path, None, Violation::Depth);
            self.is_over = true;
            return None;
        }
        let holder = Holder {
            message: holder.message(node),
            required: holder.required.or_else(|| node.required.then_some(node)),
        };
        self.followed += 1;
        let patch = self.prepared(&definition.node, value, path, holder);
        self.followed -= 1;
        patch
    }

    fn tagged<'d>(
        &mut self,
        node: &Node,
        tagged: &'s Tagged,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Option<S::Change> {
        let Kind::Object(_) = value.kind() else {
            return None;
        };
        let at_tag = Path::Field { name: &tagged.tag, parent: path };
        let message = node.message.as_deref();
        let mut change = None;
        if let Some(tag) = value.member(&tagged.tag) {
            match tagged.variant(tag.text()) {
                Some(variant) => change = self.visit_unsettled(variant, value, path),
                None => self.sink.note(&at_tag, message, Violation::Shown("enum", &tagged.message)),
            }
        } else if let Some(absent) = &tagged.absent {
            change = self.visit_unsettled(absent, value, path);
        } else {
            self.sink.note(&at_tag, message, Violation::Required);
        }
        self.is_over = false;
        change
    }

    fn variants<'d>(
        &mut self,
        union: &'s Variants,
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Option<S::Change> {
        let mut entries = value.members();
        let (name, content) = match (value.kind(), entries.next(), entries.next()) {
            (Kind::Text(name), ..) => (name, None),
            (Kind::Object(_), Some((name, content)), None) => (name, Some(content)),
            (Kind::Object(_), only, _) => {
                let broken = if only.is_none() { NO_KEY } else { SEVERAL_KEYS };
                self.sink.note(path, message, broken);
                return None;
            }
            _ => return None,
        };
        let variant = union.variants.iter().find(|(known, _)| **known == *name);
        match (variant, content) {
            (Some((_, None)), None) => None,
            (Some((name, Some(variant))), Some(content)) => {
                let change = self.visit(variant, content, || Path::Field { name, parent: path });
                self.is_over = false;
                let change = change?;
                self.sink.change(|| Patch::Only(Box::new(change.into())))
            }
            // The content is missing, or the variant does not accept any.
            (Some((_, variant)), _) => {
                let (expected, got) =
                    if variant.is_some() { ("object", "string") } else { ("string", "object") };
                self.sink.note(path, message, Violation::Type { expected, got });
                self.is_over = true;
                None
            }
            (None, None) if union.has_other => None,
            (None, _) => {
                self.sink.note(path, message, Violation::Shown("enum", &union.message));
                None
            }
        }
    }
}

const NO_KEY: Violation<'_> =
    Violation::Rule("minProperties", "Object must have at least 1 properties");
const SEVERAL_KEYS: Violation<'_> =
    Violation::Rule("maxProperties", "Object must have at most 1 properties");
