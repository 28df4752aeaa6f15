//! The elements of a changed list, paired with the stored elements.
//!
//! A marked value of a stored element must stay with its element. No element
//! may receive the marked values of two elements, and two elements may not
//! receive the values of one. Elements are paired by the first of these
//! criteria that matches:
//!
//! 1. the same origin, in a JSON patch;
//! 2. the same read-only `id`, if no second stored element has it;
//! 3. the same visible content;
//! 4. the same content without the marked values;
//! 5. the same index, if both lists have the same length, no element has moved
//!    and no element has an `id`.
//!
//! Other read-only values do not identify an element. Otherwise a client that
//! sends one element's role with another element's name would move the role.
//!
//! Each step looks the elements up by a text of their content, so long lists
//! take linear time.

use std::collections::HashMap;

use serde_json::Value;

use super::{Mark, Marks, Member, origin};
use crate::node::Node;

/// The name of the read-only property that identifies an element.
const ID: &str = "id";

impl Marks {
    /// Returns the index of the stored element for each changed element.
    pub(super) fn pairs(
        &self,
        node: &Node,
        stored: &[Value],
        changed: &[Value],
    ) -> Vec<Option<usize>> {
        if self.has_places(node) {
            return (0..changed.len()).map(|at| Some(at).filter(|at| *at < stored.len())).collect();
        }
        let mut pairs = Pairs::new(stored.len(), changed.len());
        let element = self.element(node, 0);
        let Some(node) = element.filter(|node| self.has_marks(node)) else { return pairs.of };
        let key = |change: &dyn Fn(&mut Value)| {
            let text = move |value: &Value| {
                let mut value = value.clone();
                change(&mut value);
                origin::remove_origins(&mut value);
                sort(&mut value);
                value.to_string()
            };
            (
                stored.iter().map(text).collect::<Vec<_>>(),
                changed.iter().map(text).collect::<Vec<_>>(),
            )
        };
        pairs.by_origin(stored, changed);
        if pairs.is_done() {
            return pairs.of;
        }
        let ids = |elements: &[Value]| -> Vec<String> {
            elements.iter().map(|element| self.id_of(node, element)).collect()
        };
        let (stored_ids, sent_ids) = (ids(stored), ids(changed));
        pairs.by_key(&stored_ids, &sent_ids, Choice::Only);
        let strip = |mark, value: &mut Value| self.strip_node(node, mark, value);
        let (seen, sent) = key(&|value| strip(Mark::WriteOnly, value));
        pairs.by_key(&seen, &sent, Choice::First);
        let (seen, sent) = key(&|value| {
            strip(Mark::WriteOnly, value);
            strip(Mark::ReadOnly, value);
        });
        pairs.by_key(&seen, &sent, Choice::First);
        if sent_ids.iter().all(String::is_empty) {
            pairs.by_index();
        }
        pairs.of
    }

    /// Returns the text of an element's read-only `id`, or an empty text
    /// without an `id`.
    fn id_of(&self, node: &Node, element: &Value) -> String {
        let Value::Object(members) = element else { return String::new() };
        let Some(id @ (Value::String(_) | Value::Number(_))) = members.get(ID) else {
            return String::new();
        };
        let member_rules = self.member_rules(node, members);
        let member = member_rules.map_or(Member::Unknown, |it| self.member(it, Mark::ReadOnly, ID));
        let is_id = match member {
            Member::Marked => true,
            Member::Removable(node) => self.is_marked(node, Mark::ReadOnly),
            Member::Content(_) | Member::Unknown => false,
        };
        if is_id { id.to_string() } else { String::new() }
    }
}

/// The stored element that is chosen if several have the same key.
#[derive(Clone, Copy)]
enum Choice {
    /// The first unpaired element.
    First,
    /// The element at the same index, or the only element.
    Only,
}

struct Pairs {
    of: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl Pairs {
    fn new(stored: usize, changed: usize) -> Self {
        Self { of: vec![None; changed], is_taken: vec![false; stored] }
    }

    fn is_done(&self) -> bool {
        self.of.iter().all(Option::is_some) || self.is_taken.iter().all(|is_taken| *is_taken)
    }

    fn pair(&mut self, changed: usize, stored: usize) {
        if self.of[changed].is_none() && !self.is_taken[stored] {
            self.of[changed] = Some(stored);
            self.is_taken[stored] = true;
        }
    }

    fn by_origin(&mut self, stored: &[Value], changed: &[Value]) {
        let places: HashMap<u64, usize> =
            stored.iter().enumerate().filter_map(|(at, it)| Some((origin::of(it)?, at))).collect();
        for (index, element) in changed.iter().enumerate() {
            if let Some(at) = origin::of(element).and_then(|origin| places.get(&origin)) {
                self.pair(index, *at);
            }
        }
    }

    /// Pairs the elements with equal keys. Ignores empty keys.
    fn by_key(&mut self, stored: &[String], changed: &[String], choice: Choice) {
        let is_at = |index: usize, key: &String| stored.get(index) == Some(key);
        // An element that has not moved takes precedence over another element
        // with the same key.
        for (index, key) in changed.iter().enumerate().filter(|(_, key)| !key.is_empty()) {
            if is_at(index, key) {
                self.pair(index, index);
            }
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, key) in stored.iter().enumerate().rev() {
            if !self.is_taken[at] {
                places.entry(key).or_default().push(at);
            }
        }
        for (index, key) in changed.iter().enumerate().filter(|(_, key)| !key.is_empty()) {
            if self.of[index].is_some() {
                continue;
            }
            let Some(free) = places.get_mut(key.as_str()) else { continue };
            if matches!(choice, Choice::First) || free.len() == 1 {
                free.pop().into_iter().for_each(|at| self.pair(index, at));
            }
        }
    }

    /// Pairs the other elements by index, which is meaningful only if no
    /// element has moved.
    fn by_index(&mut self) {
        let mut pairs = self.of.iter().enumerate();
        let has_moved = pairs.any(|(index, at)| at.is_some_and(|at| at != index));
        if !has_moved && self.of.len() == self.is_taken.len() {
            (0..self.of.len()).for_each(|index| self.pair(index, index));
        }
    }
}

/// Sorts the members of all objects by their names.
fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(members) => {
            members.sort_keys();
            members.values_mut().for_each(sort);
        }
        _ => {}
    }
}
