//! Origins of list elements: a member in each object of a list that survives a move.

use serde_json::Value;

/// The name of the member. Values of clients do not keep a member of this name.
const ORIGIN: &str = "\u{0}origin";

/// Returns true for the name of the member that holds an origin.
#[must_use]
pub fn is_origin(name: &str) -> bool {
    name == ORIGIN
}

/// Numbers the objects in the lists of a value.
pub fn add_origins(value: &mut Value) {
    add(value, &mut 0, false);
}

fn add(value: &mut Value, next: &mut u64, is_element: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| add(item, next, true)),
        Value::Object(members) => {
            members.values_mut().for_each(|value| add(value, next, false));
            if is_element {
                members.insert(ORIGIN.to_owned(), (*next).into());
                *next += 1;
            }
        }
        _ => {}
    }
}

/// Removes the origins of a value.
pub fn remove_origins(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_origins),
        Value::Object(members) => {
            members.shift_remove(ORIGIN);
            members.values_mut().for_each(remove_origins);
        }
        _ => {}
    }
}

pub(super) fn of(value: &Value) -> Option<u64> {
    value.get(ORIGIN)?.as_u64()
}

/// Returns the index of the element with the same origin.
pub(super) fn place_of(element: &Value, among: &[Value]) -> Option<usize> {
    let origin = of(element)?;
    among.iter().position(|other| of(other) == Some(origin))
}
