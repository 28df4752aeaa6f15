//! A slow model: random changes of a value, with the resulting stored value.

use serde_json::{Value, json};

use stockade_errors::random::Random;

use super::shapes::{Mark, Part, Place, Shape, at, without};

/// The format of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    Put,
    /// A merge patch: an absent member is unchanged, and null removes a member.
    Merge,
    /// A list in a merge patch, which replaces the stored list.
    Listed,
}

pub struct Changer<'r> {
    pub random: &'r mut Random,
    pub texts: &'r mut u32,
}

impl Changer<'_> {
    pub fn fresh(&mut self, shape: &Shape) -> Value {
        shape.value(self.random, self.texts, 3)
    }

    /// Returns a value for the client to send and the resulting stored value.
    /// Without `edits`, only marked places change.
    pub fn change(
        &mut self,
        shape: &Shape,
        stored: &Value,
        way: Way,
        edits: bool,
    ) -> (Value, Value) {
        if let Shape::List(element) = shape {
            return self.list(element, stored, way, edits);
        }
        let (mut sent, mut expected) = (stored.clone(), stored.clone());
        if matches!(shape, Shape::Text) && edits && self.random.one_in(2) {
            sent = self.fresh(shape);
            expected = sent.clone();
        }
        let way = match (shape, way) {
            (Shape::Pair(..), Way::Merge) => Way::Listed,
            _ => way,
        };
        for part in shape.parts(stored) {
            self.part(&part, &mut sent, &mut expected, way, edits);
        }
        (sent, expected)
    }

    fn part(&mut self, part: &Part, sent: &mut Value, expected: &mut Value, way: Way, edits: bool) {
        let step = &*part.step;
        let is_member = part.place == Place::Member;
        match part.mark {
            Mark::ReadOnly => match self.random.index(3) {
                0 if is_member => remove(sent, step),
                1 => {}
                _ => *at(sent, step) = json!("forged"),
            },
            Mark::WriteOnly if is_member && self.random.one_in(2) => {
                remove(sent, step);
                if way == Way::Put {
                    remove(expected, step);
                }
            }
            Mark::WriteOnly if is_member && way == Way::Merge && self.random.one_in(4) => {
                *at(sent, step) = Value::Null;
                remove(expected, step);
            }
            // In a merge patch, null would remove the content.
            Mark::WriteOnly if !is_member && way != Way::Merge && self.random.one_in(2) => {
                *at(sent, step) = Value::Null;
                if way == Way::Put {
                    *at(expected, step) = Value::Null;
                }
            }
            Mark::None if is_member && edits && self.random.one_in(5) => {
                if way == Way::Merge && self.random.one_in(2) {
                    *at(sent, step) = Value::Null;
                    remove(expected, step);
                } else {
                    remove(sent, step);
                    if way != Way::Merge {
                        remove(expected, step);
                    }
                }
            }
            Mark::None | Mark::WriteOnly => {
                let (one, other) = self.change(&part.shape, at(sent, step), way, edits);
                *at(sent, step) = one;
                *at(expected, step) = other;
            }
        }
    }

    /// Changes the elements in place, or reorders, removes and adds elements.
    fn list(&mut self, element: &Shape, stored: &Value, way: Way, edits: bool) -> (Value, Value) {
        let way = if way == Way::Put { Way::Put } else { Way::Listed };
        let mut elements: Vec<&Value> = stored.as_array().unwrap().iter().collect();
        let is_in_place = !edits || self.random.one_in(2);
        let count = elements.len();
        if !is_in_place {
            for at in (1..count).rev() {
                elements.swap(at, self.random.index(at + 1));
            }
            elements.truncate(self.random.index(count + 1));
        }
        let edits = edits && is_in_place;
        let changed = elements.into_iter().map(|stored| self.change(element, stored, way, edits));
        let mut changed: Vec<(Value, Value)> = changed.collect();
        // A list of the same length could be a list with a changed element.
        if !is_in_place && changed.len() == count {
            for _ in 0..=self.random.index(2) {
                let sent = self.fresh(element);
                let mut expected = sent.clone();
                without(element, Mark::ReadOnly, &mut expected);
                changed.insert(self.random.index(changed.len() + 1), (sent, expected));
            }
        }
        let (sent, expected): (Vec<_>, Vec<_>) = changed.into_iter().unzip();
        (sent.into(), expected.into())
    }

    /// Returns one JSON Patch operation and applies it to `state`. A patch
    /// either adds or removes list elements, because removing and adding an
    /// element at the same index is a change of the element.
    pub fn operation(&mut self, shape: &Shape, state: &mut Value, adds: bool) -> Option<Value> {
        let (mut shape, mut parent) = (shape.clone(), state);
        let mut path = String::from("/body");
        loop {
            let parts = shape.parts(parent);
            if parts.is_empty() {
                return None;
            }
            let part = parts[self.random.index(parts.len())].clone();
            let step = &*part.step;
            if part.mark == Mark::None
                && !matches!(part.shape, Shape::Text)
                && !self.random.one_in(3)
            {
                path = format!("{path}/{step}");
                parent = at(parent, step);
                shape = part.shape;
                continue;
            }
            let place = format!("{path}/{step}");
            return self.last_step(&part, parent, &path, &place, adds);
        }
    }

    fn last_step(
        &mut self,
        part: &Part,
        parent: &mut Value,
        list: &str,
        place: &str,
        adds: bool,
    ) -> Option<Value> {
        let step = &*part.step;
        let is_text = matches!(part.shape, Shape::Text);
        let operation =
            |op: &str, value: &Value| json!({ "op": op, "path": place, "value": value });
        match (part.mark, part.place) {
            (Mark::ReadOnly, Place::Member) => Some(operation("add", &json!("forged"))),
            (Mark::ReadOnly, _) => Some(operation("replace", &json!("forged"))),
            (_, Place::Member) if self.random.one_in(2) => {
                remove(parent, step);
                Some(json!({ "op": "remove", "path": place }))
            }
            (_, Place::Element) if !is_text || self.random.one_in(2) => {
                // Elements that are not objects are matched by content or
                // index.
                let is_tracked = at(parent, step).is_object();
                is_tracked.then(|| self.element(part, parent, list, place, adds))
            }
            _ if is_text => {
                let text = self.fresh(&part.shape);
                at(parent, step).clone_from(&text);
                Some(operation("replace", &text))
            }
            _ => None,
        }
    }

    fn element(
        &mut self,
        part: &Part,
        parent: &mut Value,
        list: &str,
        place: &str,
        adds: bool,
    ) -> Value {
        let index: usize = part.step.parse().unwrap();
        let Value::Array(elements) = parent else { unreachable!() };
        if self.random.one_in(2) {
            let element = elements.remove(index);
            let to = self.random.index(elements.len() + 1);
            elements.insert(to, element);
            return json!({ "op": "move", "from": place, "path": format!("{list}/{to}") });
        }
        if !adds {
            elements.remove(index);
            return json!({ "op": "remove", "path": place });
        }
        let sent = self.fresh(&part.shape);
        let mut expected = sent.clone();
        without(&part.shape, Mark::ReadOnly, &mut expected);
        elements.insert(index, expected);
        json!({ "op": "add", "path": place, "value": sent })
    }
}

fn remove(value: &mut Value, step: &str) {
    value.as_object_mut().unwrap().remove(step);
}
