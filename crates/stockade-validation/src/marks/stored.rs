//! Marked places of a stored value, put back into a changed one.

use serde_json::{Map, Value};

use super::{Mark, Marks, Member, MemberRules};
use crate::node::{Inner, Node};

impl Marks {
    /// Aligns a stored value with a changed value: each list contains the
    /// stored elements that belong to the changed elements, or null for a new
    /// element. A part of another kind becomes null.
    ///
    /// Call it before marked places are removed from `changed`, because the
    /// marked values that a client sends back help to find the element.
    #[must_use]
    pub fn aligned(&self, stored: &Value, changed: &Value) -> Value {
        self.align(&self.compiled.root, stored, changed)
    }

    fn align(&self, node: &Node, stored: &Value, changed: &Value) -> Value {
        // A client's value in such a place is ignored.
        if self.is_marked(node, Mark::ReadOnly) {
            return stored.clone();
        }
        match (stored, changed) {
            (Value::Object(stored), Value::Object(changed)) => {
                let Some(member_rules) = self.common_rules(node, stored, changed) else {
                    return Value::Null;
                };
                let member = |(name, stored): (&String, &Value)| {
                    let aligned = match (self.member_in(member_rules, name), changed.get(name)) {
                        (Some(node), Some(changed)) => self.align(node, stored, changed),
                        _ => stored.clone(),
                    };
                    (name.clone(), aligned)
                };
                Value::Object(stored.iter().map(member).collect())
            }
            (Value::Array(stored), Value::Array(changed)) => {
                let pairs = self.pairs(node, stored, changed);
                let aligned = changed.iter().zip(pairs).enumerate();
                aligned
                    .map(|(index, (changed, at))| match (self.element(node, index), at) {
                        (Some(node), Some(at)) => self.align(node, &stored[at], changed),
                        _ => Value::Null,
                    })
                    .collect()
            }
            _ => stored.clone(),
        }
    }

    /// Puts the marked values of `stored` into `changed`, which does not have
    /// them. Skips the properties that `patch`, a merge patch, sets to null.
    /// `stored` is [aligned](Self::aligned).
    pub fn restore(&self, mark: Mark, stored: &Value, changed: &mut Value, patch: Option<&Value>) {
        self.restore_node(&self.compiled.root, mark, stored, changed, patch);
    }

    /// Restores like [`restore`](Self::restore), but only inside the existing
    /// members of `changed`. Does not restore the marked properties of the
    /// whole value.
    pub fn restore_inside(
        &self,
        mark: Mark,
        stored: &Map<String, Value>,
        changed: &mut Map<String, Value>,
    ) {
        let Some(member_rules) = self.common_rules(&self.compiled.root, stored, changed) else {
            return;
        };
        for (name, value) in changed.iter_mut() {
            if let (Some(stored), Some(node)) =
                (stored.get(name), self.member_in(member_rules, name))
            {
                self.restore_node(node, mark, stored, value, None);
            }
        }
    }

    fn restore_node(
        &self,
        node: &Node,
        mark: Mark,
        stored: &Value,
        changed: &mut Value,
        patch: Option<&Value>,
    ) {
        match (stored, changed) {
            (Value::Object(stored), Value::Object(changed)) => {
                let Some(member_rules) = self.common_rules(node, stored, changed) else { return };
                for (name, stored) in stored {
                    let patch = patch.and_then(|patch| patch.get(name));
                    let is_marked = match self.member(member_rules, mark, name) {
                        Member::Marked => true,
                        Member::Removable(node) => self.is_marked(node, mark),
                        // Null replaces marked content.
                        Member::Content(_) => false,
                        Member::Unknown => continue,
                    };
                    match (changed.get_mut(name), self.member_in(member_rules, name)) {
                        (Some(changed), Some(node)) => match member_rules {
                            MemberRules::Variants(_) => {
                                self.restore_place(node, mark, stored, changed, patch);
                            }
                            MemberRules::Object { .. } => {
                                self.restore_node(node, mark, stored, changed, patch);
                            }
                        },
                        (None, _) if is_marked && !patch.is_some_and(Value::is_null) => {
                            changed.insert(name.clone(), stored.clone());
                        }
                        _ => {}
                    }
                }
            }
            (Value::Array(stored), Value::Array(changed)) if stored.len() == changed.len() => {
                for (index, (stored, changed)) in stored.iter().zip(changed).enumerate() {
                    if let Some(node) = self.element(node, index) {
                        self.restore_place(node, mark, stored, changed, None);
                    }
                }
            }
            _ => {}
        }
    }

    /// Restores like `restore_node`, in a place that becomes null if it is
    /// marked.
    fn restore_place(
        &self,
        node: &Node,
        mark: Mark,
        stored: &Value,
        changed: &mut Value,
        patch: Option<&Value>,
    ) {
        if changed.is_null() && self.is_marked(node, mark) {
            changed.clone_from(stored);
        } else {
            self.restore_node(node, mark, stored, changed, patch);
        }
    }

    /// Replaces each part of `merged` that has become another kind of a union by the same
    /// part of `visible`: a hidden value of the old kind must not become a visible value of
    /// the new kind. `merged` and `visible` are the results of one merge patch, with and
    /// without the write-only places of `stored`.
    pub fn replace_switched(&self, stored: &Value, merged: &mut Value, visible: &Value) {
        self.switch(&self.compiled.root, stored, merged, visible);
    }

    fn switch(&self, node: &Node, stored: &Value, merged: &mut Value, visible: &Value) {
        let (Value::Object(stored), Value::Object(members)) = (stored, &mut *merged) else {
            return;
        };
        let Some(member_rules) = self.common_rules(node, stored, members) else {
            merged.clone_from(visible);
            return;
        };
        for (name, merged) in members {
            if let (Some(stored), Some(visible), Some(node)) =
                (stored.get(name), visible.get(name), self.member_in(member_rules, name))
            {
                self.switch(node, stored, merged, visible);
            }
        }
    }

    /// Returns the path of a missing required property with this mark below the
    /// whole value. Clients cannot send the property, and the application has
    /// not set it.
    #[must_use]
    pub fn missing(&self, mark: Mark, value: &Map<String, Value>) -> Option<String> {
        let member_rules = self.member_rules(&self.compiled.root, value)?;
        value.iter().find_map(|(name, value)| {
            let node = self.member_in(member_rules, name)?;
            Some(format!("{name}{}", self.missing_in(node, mark, value)?))
        })
    }

    fn missing_in(&self, node: &Node, mark: Mark, value: &Value) -> Option<String> {
        match value {
            Value::Object(members) => {
                let member_rules = self.member_rules(node, members)?;
                if let MemberRules::Object { rules, .. } = member_rules {
                    let mut absent = rules.properties().iter().filter(|property| {
                        property.must_be_present() && !members.contains_key(&*property.name)
                    });
                    let is_marked = |name| match self.member(member_rules, mark, name) {
                        Member::Marked => true,
                        Member::Removable(node) => self.is_marked(node, mark),
                        Member::Content(_) | Member::Unknown => false,
                    };
                    if let Some(property) = absent.find(|property| is_marked(&property.name)) {
                        return Some(format!(".{}", property.name));
                    }
                }
                members.iter().find_map(|(name, value)| {
                    let path = match self.member(member_rules, mark, name) {
                        Member::Content(node) if self.is_missing(node, mark, value) => {
                            String::new()
                        }
                        Member::Removable(node) | Member::Content(node) => {
                            self.missing_in(node, mark, value)?
                        }
                        Member::Marked | Member::Unknown => return None,
                    };
                    Some(format!(".{name}{path}"))
                })
            }
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let node = self.element(node, index)?;
                let path = if self.is_missing(node, mark, item) {
                    String::new()
                } else {
                    self.missing_in(node, mark, item)?
                };
                Some(format!("[{index}]{path}"))
            }),
            _ => None,
        }
    }

    /// Returns true if null is in a marked place that does not accept null.
    fn is_missing(&self, node: &Node, mark: Mark, value: &Value) -> bool {
        let accepts_null = node.accepts_null && self.followed(node).accepts_null;
        value.is_null() && !node.nullable && !accepts_null && self.is_marked(node, mark)
    }

    /// Removes the value at a path from `stored`. The path applies to
    /// `changed`, and its list elements may have moved.
    pub fn forget<'t>(
        stored: &mut Value,
        changed: &Value,
        path: impl IntoIterator<Item = &'t str>,
    ) {
        let mut path = path.into_iter().peekable();
        let (mut stored, mut changed) = (stored, changed);
        while let Some(step) = path.next() {
            let next = match (stored, changed) {
                (Value::Object(stored), _) if path.peek().is_none() => {
                    stored.shift_remove(step);
                    return;
                }
                (Value::Object(stored), Value::Object(changed)) => {
                    stored.get_mut(step).zip(changed.get(step))
                }
                (Value::Array(stored), Value::Array(changed)) => {
                    let index = step.parse::<usize>().ok();
                    let element = index.and_then(|index| Some((index, changed.get(index)?)));
                    element.and_then(|(index, changed)| {
                        let at = super::origin::place_of(changed, stored).unwrap_or(index);
                        stored.get_mut(at).zip(Some(changed))
                    })
                }
                _ => None,
            };
            let Some(next) = next else { return };
            (stored, changed) = next;
        }
    }

    /// Returns the rule of a member, marked or not.
    fn member_in<'m>(&self, member_rules: MemberRules<'m>, name: &str) -> Option<&'m Node> {
        let member = match member_rules {
            MemberRules::Object { rules, .. } => self.member_of(rules, name),
            MemberRules::Variants(variants) => super::content_of(variants, name),
        };
        match member {
            Member::Removable(node) | Member::Content(node) => Some(node),
            Member::Marked | Member::Unknown => None,
        }
    }

    /// Returns the member rules if they are the same for both objects.
    fn common_rules<'m>(
        &'m self,
        node: &'m Node,
        stored: &Map<String, Value>,
        changed: &Map<String, Value>,
    ) -> Option<MemberRules<'m>> {
        let member_rules = self.member_rules(node, stored)?;
        self.member_rules(node, changed).filter(|changed| member_rules.is(*changed))
    }

    /// Returns true if the elements of an array have fixed places, as in a tuple.
    pub(super) fn has_places(&self, node: &Node) -> bool {
        let rules = self.followed(node).array.as_deref();
        rules.is_some_and(|rules| !rules.places.is_empty())
    }

    /// Returns true if a place in the values of a node has a mark.
    pub(super) fn has_marks(&self, node: &Node) -> bool {
        self.leads_to_mark(node, &[Mark::ReadOnly, Mark::WriteOnly])
    }

    /// Returns true if the node or a place in its values has one of these marks.
    pub(super) fn leads_to_mark(&self, node: &Node, marks: &[Mark]) -> bool {
        let mut seen = vec![false; self.compiled.definitions.len()];
        self.leads_to(node, marks, &mut seen)
    }

    fn leads_to(&self, node: &Node, marks: &[Mark], seen: &mut [bool]) -> bool {
        if marks.iter().any(|mark| super::has_mark(node, *mark)) {
            return true;
        }
        let object = node.object.as_deref().is_some_and(|rules| {
            let additional = match &rules.additional {
                crate::node::AdditionalRule::Node(node) => Some(&**node),
                _ => None,
            };
            let properties = rules.properties().iter().map(|property| &property.node);
            properties.chain(additional).any(|node| self.leads_to(node, marks, seen))
        });
        let array = |seen: &mut [bool]| {
            node.array.as_deref().is_some_and(|rules| {
                rules.places.iter().chain(&rules.items).any(|node| self.leads_to(node, marks, seen))
            })
        };
        let inner = |seen: &mut [bool]| match node.inner.as_deref() {
            None => false,
            Some(Inner::Definition(place)) => {
                !std::mem::replace(&mut seen[*place], true)
                    && self.leads_to(&self.compiled.definitions[*place].node, marks, seen)
            }
            Some(Inner::Tagged(tagged)) => {
                tagged.nodes().any(|node| self.leads_to(node, marks, seen))
            }
            Some(Inner::FirstOf(union)) => {
                union.variants.iter().any(|node| self.leads_to(node, marks, seen))
            }
            Some(Inner::Variants(variants)) => {
                let mut nodes = variants.variants.iter().filter_map(|(_, node)| node.as_ref());
                nodes.any(|node| self.leads_to(node, marks, seen))
            }
        };
        object || array(seen) || inner(seen)
    }
}
