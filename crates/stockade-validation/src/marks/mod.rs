//! The marks `readOnly` and `writeOnly`, applied to values at every depth.
//!
//! A mark describes the place of a value. A marked property or map value is removed. A
//! position that cannot be removed becomes null: an element of a tuple, or the content of
//! a variant that is named by its key. Only the tag remains of a marked variant with a tag.
//! A list of marked elements counts as marked itself.
//!
//! - here: `Marks`, which finds and removes marked places.
//! - `stored`: marked places of a stored value, put back into a changed one.
//! - `pairs`: the elements of a changed list, paired with the stored elements.
//! - `origin`: origins of list elements, which survive a move.
//! - `types`: the marked properties of types with a name.
//! - `text`: marked places removed from JSON text.
//! - `required`: required places that no client can send.
//! - `ignored`: marks in alternatives and conditions, which have no effect.
//! - `rules`: rules without the marked places, for schemas and documents.

mod ignored;
mod origin;
mod pairs;
mod required;
mod rules;
mod stored;
#[cfg(test)]
mod tests;
mod text;
mod types;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::origin::{add_origins, is_origin, remove_origins};
pub use self::rules::View;
pub use self::types::MarkedType;
use crate::check::variant_of;
use crate::node::{AdditionalRule, Compiled, FirstOf, Inner, Node, ObjectRules, Variants};
use crate::schema::Schema;

/// A mark of a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mark {
    /// Clients receive the value and do not send it.
    ReadOnly,
    /// Clients send the value and do not receive it.
    WriteOnly,
}

impl Mark {
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnly",
            Self::WriteOnly => "writeOnly",
        }
    }
}

/// The marked places of a schema. A clone shares them.
#[derive(Clone)]
pub struct Marks {
    compiled: Arc<Compiled>,
    /// True if the values have origins. A client can use the same name as a map
    /// key, so this exception does not apply to other values.
    has_origins: bool,
}

/// The maximum number of consecutive references that are followed without a
/// step into the value.
const MAX_FOLLOWED: usize = 128;

/// The rules of the members of one object.
#[derive(Clone, Copy)]
enum MemberRules<'m> {
    Object {
        rules: &'m ObjectRules,
        whole: Whole<'m>,
        /// The union without a tag that contains this variant.
        union: Option<&'m FirstOf>,
    },
    Variants(&'m Variants),
}

/// The tag of a variant that is marked as a whole, for each mark.
#[derive(Clone, Copy, Default)]
struct Whole<'m> {
    read_only: Option<&'m str>,
    write_only: Option<&'m str>,
}

impl<'m> Whole<'m> {
    fn note(&mut self, tag: &'m str, variant: &Node) {
        if has_mark(variant, Mark::ReadOnly) {
            self.read_only.get_or_insert(tag);
        }
        if has_mark(variant, Mark::WriteOnly) {
            self.write_only.get_or_insert(tag);
        }
    }

    /// Returns true if the member with this name is marked together with its
    /// variant.
    fn has(self, mark: Mark, name: &str) -> bool {
        let tag = match mark {
            Mark::ReadOnly => self.read_only,
            Mark::WriteOnly => self.write_only,
        };
        tag.is_some_and(|tag| tag != name)
    }
}

impl MemberRules<'_> {
    /// Returns true if both are the same rules, for example the same variant of
    /// a union.
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Object { rules, .. }, Self::Object { rules: other, .. }) => {
                std::ptr::eq(rules, other)
            }
            (Self::Variants(variants), Self::Variants(other)) => std::ptr::eq(variants, other),
            _ => false,
        }
    }
}

/// A member of an object.
#[derive(Clone, Copy)]
enum Member<'m> {
    /// A property or a value of a map, which can be removed.
    Removable(&'m Node),
    /// The content of a variant, which becomes null.
    Content(&'m Node),
    /// A member of a variant that is marked as a whole.
    Marked,
    /// A member without a rule.
    Unknown,
}

impl Marks {
    /// Returns the marks of a schema.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        Self { compiled: schema.shared(), has_origins: false }
    }

    /// Returns the same marks for values with [origins](add_origins).
    #[must_use]
    pub fn with_origins(&self) -> Self {
        Self { has_origins: true, ..self.clone() }
    }

    /// Returns the names of the marked properties of the whole.
    #[must_use]
    pub fn names(&self, mark: Mark) -> Vec<String> {
        let rules = self.followed(&self.compiled.root).object.as_deref();
        let properties = rules.map(ObjectRules::properties).unwrap_or_default().iter();
        let marked = properties.filter(|property| self.is_marked(&property.node, mark));
        marked.map(|property| property.name.to_string()).collect()
    }

    /// Removes the marked places of a value.
    pub fn strip(&self, mark: Mark, value: &mut Value) {
        self.strip_node(&self.compiled.root, mark, value);
    }

    /// Returns true if the place at this path in `value` is marked.
    pub fn is_marked_at<'t>(
        &self,
        mark: Mark,
        value: &Value,
        path: impl IntoIterator<Item = &'t str>,
    ) -> bool {
        let (mut node, mut value) = (&self.compiled.root, Some(value));
        let mut is_marked = false;
        for step in path {
            let next = match value {
                Some(Value::Object(members)) => {
                    let member_rules = self.member_rules(node, members);
                    match member_rules.map_or(Member::Unknown, |it| self.member(it, mark, step)) {
                        Member::Removable(next) | Member::Content(next) => Some(next),
                        Member::Marked => return true,
                        Member::Unknown => None,
                    }
                }
                Some(Value::Array(_)) => {
                    let index = step.parse().unwrap_or(usize::MAX);
                    self.element(node, index)
                }
                _ => None,
            };
            let Some(next) = next else { return false };
            is_marked = self.is_marked(next, mark);
            value = value.and_then(|value| match value {
                Value::Object(members) => members.get(step),
                Value::Array(items) => items.get(step.parse::<usize>().ok()?),
                _ => None,
            });
            node = next;
        }
        is_marked
    }

    /// Returns true if any value has a marked place at the path of an error,
    /// such as `owners[0].password`, or above it.
    #[must_use]
    pub fn may_be_marked(&self, mark: Mark, path: &str) -> bool {
        let steps: Vec<&str> = path.split(['.', '[']).map(|it| it.trim_end_matches(']')).collect();
        self.may_lead_to(&self.compiled.root, mark, &steps, MAX_FOLLOWED)
    }

    fn may_lead_to(&self, node: &Node, mark: Mark, path: &[&str], left: usize) -> bool {
        let Some((step, rest)) = path.split_first() else { return false };
        if left == 0 {
            return false;
        }
        let at = |node: &Node| {
            self.is_marked(node, mark) || self.may_lead_to(node, mark, rest, MAX_FOLLOWED)
        };
        let node = self.followed(node);
        let by_object =
            node.object.as_deref().is_some_and(|rules| match self.member_of(rules, step) {
                Member::Removable(node) => at(node),
                _ => false,
            });
        let by_array = || {
            let rules = node.array.as_deref();
            let index = step.parse::<usize>().ok();
            index.and_then(|index| rules?.at(index)).is_some_and(at)
        };
        let by_inner = || match node.inner.as_deref() {
            Some(Inner::Tagged(tagged)) => tagged.nodes().any(|variant| {
                let is_whole = has_mark(variant, mark) && *step != &*tagged.tag;
                is_whole || self.may_lead_to(variant, mark, path, left - 1)
            }),
            Some(Inner::FirstOf(union)) => union.variants.iter().any(|variant| {
                has_mark(variant, mark) || self.may_lead_to(variant, mark, path, left - 1)
            }),
            Some(Inner::Variants(variants)) => {
                let mut variants = variants.variants.iter();
                variants.any(|(name, node)| &**name == *step && node.as_ref().is_some_and(at))
            }
            Some(Inner::Definition(_)) | None => false,
        };
        by_object || by_array() || by_inner()
    }

    fn strip_node(&self, node: &Node, mark: Mark, value: &mut Value) {
        match value {
            Value::Object(members) => {
                let Some(member_rules) = self.member_rules(node, members) else { return };
                members.retain(|name, value| match self.member(member_rules, mark, name) {
                    Member::Removable(node) if self.is_marked(node, mark) => false,
                    Member::Content(node) if self.is_marked(node, mark) => {
                        *value = Value::Null;
                        true
                    }
                    Member::Removable(node) | Member::Content(node) => {
                        self.strip_node(node, mark, value);
                        true
                    }
                    Member::Marked => false,
                    Member::Unknown => true,
                });
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    match self.element(node, index) {
                        Some(node) if self.is_marked(node, mark) => *item = Value::Null,
                        Some(node) => self.strip_node(node, mark, item),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns true if the place of a node is marked: by the node, by the type that it
    /// refers to, or by the elements of a list.
    fn is_marked(&self, node: &Node, mark: Mark) -> bool {
        let mut node = node;
        for _ in 0..MAX_FOLLOWED {
            if has_mark(node, mark) {
                return true;
            }
            let items = node.array.as_deref().and_then(|rules| rules.items.as_ref());
            let next = match node.inner.as_deref() {
                Some(Inner::Definition(place)) => Some(&self.compiled.definitions[*place].node),
                _ => items,
            };
            let Some(next) = next else { return false };
            node = next;
        }
        false
    }

    /// Returns the node that a reference refers to, or the node itself.
    fn followed<'m>(&'m self, node: &'m Node) -> &'m Node {
        let mut node = node;
        for _ in 0..MAX_FOLLOWED {
            let Some(Inner::Definition(place)) = node.inner.as_deref() else { break };
            node = &self.compiled.definitions[*place].node;
        }
        node
    }

    /// Returns the rules of an object's members, or `None` if the object does
    /// not have such rules.
    fn member_rules<'m>(
        &'m self,
        node: &'m Node,
        members: &Map<String, Value>,
    ) -> Option<MemberRules<'m>> {
        let tag_of = |tag: &str| {
            let value = members.get(tag)?;
            Some(value.as_str().map(Cow::Borrowed))
        };
        self.member_rules_by(node, tag_of, || Value::Object(members.clone()))
    }

    /// Returns the rules of the members of an object. `tag_of` returns the text of a member, if the
    /// object has the member. `value` returns the whole object.
    fn member_rules_by<'m, 't>(
        &'m self,
        node: &'m Node,
        tag_of: impl Fn(&str) -> Option<Option<Cow<'t, str>>>,
        value: impl Fn() -> Value,
    ) -> Option<MemberRules<'m>> {
        let mut node = self.followed(node);
        let mut whole = Whole::default();
        let mut outer = None;
        for _ in 0..MAX_FOLLOWED {
            match node.inner.as_deref() {
                None => {
                    let rules = node.object.as_deref()?;
                    return Some(MemberRules::Object { rules, whole, union: outer });
                }
                Some(Inner::Variants(variants)) => return Some(MemberRules::Variants(variants)),
                Some(Inner::Tagged(tagged)) => {
                    let variant = match tag_of(&tagged.tag) {
                        Some(name) => tagged.variant(name.as_deref())?,
                        None => tagged.absent.as_deref()?,
                    };
                    whole.note(&tagged.tag, variant);
                    node = self.followed(variant);
                }
                Some(Inner::FirstOf(union)) => {
                    outer.get_or_insert(union);
                    node = self.followed(variant_of(&self.compiled, union, &value()));
                }
                Some(Inner::Definition(_)) => return None,
            }
        }
        None
    }

    fn member<'m>(&'m self, member_rules: MemberRules<'m>, mark: Mark, name: &str) -> Member<'m> {
        match member_rules {
            MemberRules::Object { whole, .. } if whole.has(mark, name) => Member::Marked,
            MemberRules::Object { rules, union, .. } => {
                match (self.member_of(rules, name), union) {
                    (Member::Unknown, Some(union)) => self.marked_in(union, mark, name),
                    (member, _) => member,
                }
            }
            MemberRules::Variants(variants) => content_of(variants, name),
        }
    }

    fn member_of<'m>(&self, rules: &'m ObjectRules, name: &str) -> Member<'m> {
        match (rules.find_listed(name, 0), &rules.additional) {
            (None, _) if self.has_origins && is_origin(name) => Member::Unknown,
            (Some(index), _) => Member::Removable(&rules.entries[index].node),
            (None, AdditionalRule::Node(node)) => Member::Removable(node),
            (None, _) => Member::Unknown,
        }
    }

    /// Returns the rule of a member that any variant marks. The variant of an invalid value is
    /// uncertain, so the marks of all variants count.
    fn marked_in<'m>(&'m self, union: &'m FirstOf, mark: Mark, name: &str) -> Member<'m> {
        let members = union.variants.iter().filter_map(|variant| {
            let rules = self.followed(variant).object.as_deref()?;
            match self.member_of(rules, name) {
                Member::Removable(node) if self.is_marked(node, mark) => Some(node),
                _ => None,
            }
        });
        members.into_iter().next().map_or(Member::Unknown, Member::Removable)
    }

    fn element<'m>(&'m self, node: &'m Node, index: usize) -> Option<&'m Node> {
        self.followed(node).array.as_deref()?.at(index)
    }
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Marks").finish_non_exhaustive()
    }
}

fn has_mark(node: &Node, mark: Mark) -> bool {
    node.keywords.get(mark.keyword()) == Some(&Value::Bool(true))
}

fn content_of<'m>(variants: &'m Variants, name: &str) -> Member<'m> {
    let known = variants.variants.iter().find(|(known, _)| **known == *name);
    known.and_then(|(_, node)| node.as_ref()).map_or(Member::Unknown, Member::Content)
}
