//! What a value has to be beside the keywords of its node: definitions, unions,
//! tuples.

use super::patch::Patch;
use super::path::Path;
use super::{Held, Run};
use crate::data::{Data, Kind};
use crate::depth::MAX_DEPTH;
use crate::node::{Inner, Node, Tagged, Variants};

/// How many definitions are followed into each other. The depth of the data
/// bounds it, unless a `transform` of a recursive type makes more and more.
pub(super) const MAX_FOLLOWED: usize = 2 * MAX_DEPTH;

impl<'s> Run<'_, 's> {
    /// Judges a value whose type fits; `None` after a type failure.
    pub(super) fn inner<'d>(
        &mut self,
        node: &'s Node,
        inner: &'s Inner,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Option<Patch<'s>> {
        match inner {
            Inner::Definition(place) => self.definition(node, *place, value, path),
            Inner::Tagged(tagged) => Some(self.tagged(node, tagged, value, path)),
            Inner::Variants(variants) => self.variants(node, variants, value, path),
            Inner::Tuple(nodes) => Some(self.tuple(nodes, value, path)),
        }
    }

    /// Judges what `node` leaves to a definition. Its message is also that for
    /// the value there, but not for what the value contains.
    fn definition<'d>(
        &mut self,
        node: &'s Node,
        place: usize,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Option<Patch<'s>> {
        let Some(definition) = self.definitions.get(place) else {
            return Some(Patch::Keep);
        };
        if self.followed == MAX_FOLLOWED {
            let message = format!("Value is nested more than {MAX_DEPTH} levels deep");
            self.push(path, message, "depth");
            return None;
        }
        let known = self.errors.len();
        let held = Held {
            node: &definition.node,
            message: self.message_of(node),
            required: self
                .held(node)
                .and_then(|held| held.required)
                .or_else(|| node.required.then_some(node)),
        };
        let around = self.held.replace(held);
        self.followed += 1;
        let patch = self.visit(&definition.node, value, path);
        self.followed -= 1;
        self.held = around;
        let fits = self.errors.len() == known || !self.ends(known, path);
        fits.then_some(patch)
    }

    /// Whether the value at `path` itself has a wrong type or is missing, by the
    /// errors from `known` on.
    #[cold]
    fn ends(&self, known: usize, path: &Path<'_>) -> bool {
        let field = path.shown();
        let ends = |rule: &str| matches!(rule, "type" | "required");
        self.errors[known..].iter().any(|error| ends(&error.rule) && error.field == field)
    }

    fn tagged<'d>(
        &mut self,
        node: &Node,
        tagged: &'s Tagged,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Patch<'s> {
        let Kind::Object(_) = value.kind() else {
            return Patch::Keep;
        };
        let at_tag = Path::Field { name: &tagged.tag, parent: path };
        let Some(tag) = value.member(&tagged.tag) else {
            self.missing(node.message.as_deref(), &at_tag, &tagged.tag);
            return Patch::Keep;
        };
        let mut variants = tagged.variants.iter();
        let variant = variants.find(|(name, _)| tag.text() == Some(&**name));
        if let Some((_, variant)) = variant {
            return self.visit(variant, value, path);
        }
        let message = node.message.as_deref().unwrap_or(&tagged.message);
        self.push(&at_tag, message.to_owned(), "enum");
        Patch::Keep
    }

    fn variants<'d>(
        &mut self,
        node: &Node,
        union: &'s Variants,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Option<Patch<'s>> {
        let find = |key: &str| union.variants.iter().find(|(name, _)| **name == *key);
        match value.kind() {
            Kind::Text(name) => match find(name) {
                Some((_, None)) => Some(Patch::Keep),
                Some((_, Some(_))) => self.wrong_form(node, path, "object", "string"),
                None => {
                    self.fail(node, path, "enum", || union.message.clone());
                    Some(Patch::Keep)
                }
            },
            Kind::Object(count) => {
                let mut entries = value.members();
                let (Some((name, content)), None) = (entries.next(), entries.next()) else {
                    self.not_one(node, count == 0, path);
                    return Some(Patch::Keep);
                };
                match find(name) {
                    Some((name, Some(variant))) => {
                        let at_content = Path::Field { name, parent: path };
                        let patch = self.visit(variant, content, &at_content);
                        Some(Patch::only_value(patch))
                    }
                    Some((_, None)) => self.wrong_form(node, path, "string", "object"),
                    None => {
                        self.fail(node, path, "enum", || union.message.clone());
                        Some(Patch::Keep)
                    }
                }
            }
            _ => Some(Patch::Keep),
        }
    }

    /// A variant without content came with some, or the other way round.
    fn wrong_form(
        &mut self,
        node: &Node,
        path: &Path<'_>,
        expected: &str,
        got: &str,
    ) -> Option<Patch<'s>> {
        self.fail(node, path, "type", || format!("Expected {expected}, got {got}"));
        None
    }

    fn not_one(&mut self, node: &Node, is_empty: bool, path: &Path<'_>) {
        let (rule, bound) =
            if is_empty { ("minProperties", "least") } else { ("maxProperties", "most") };
        self.fail(node, path, rule, || format!("Object must have at {bound} 1 properties"));
    }

    fn tuple<'d>(&mut self, nodes: &'s [Node], value: impl Data<'d>, path: &Path<'_>) -> Patch<'s> {
        let mut patches = Vec::new();
        for (index, (node, item)) in nodes.iter().zip(value.items()).enumerate() {
            if self.done {
                break;
            }
            if self.passes(node, item) {
                continue;
            }
            let patch = self.visit(node, item, &Path::Item { index, parent: path });
            if !patch.is_keep() {
                patches.push((index, patch));
            }
        }
        if patches.is_empty() { Patch::Keep } else { Patch::Array(patches) }
    }
}
