//! Deep equality of JSON values: key order does not matter, and 1 equals 1.0.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use crate::number::Num;

/// Returns true if the values are equal. Recurses as deep as `left` is nested.
#[must_use]
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Num::of(left).compare(Num::of(right)) == Ordering::Equal
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| equal(left, right)))
        }
        _ => left == right,
    }
}

/// Compares by length, then by bytes. Names of different lengths need no
/// comparison of their bytes.
pub(crate) fn order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// Returns true if two names are equal.
#[inline]
pub(crate) fn same(left: &str, right: &str) -> bool {
    same_short(left, right) || left.len() > SHORT && left == right
}

/// Returns true if two names are equal and have at most 16 bytes, as most do.
/// Compares their ends, which may overlap, without a function call.
#[inline]
pub(crate) fn same_short(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left.len() == right.len()
        && match left.len() {
            0 => true,
            1 => left[0] == right[0],
            2..=3 => same_ends::<2>(left, right),
            4..=7 => same_ends::<4>(left, right),
            8..=SHORT => same_ends::<8>(left, right),
            _ => false,
        }
}

const SHORT: usize = 16;

#[inline]
fn same_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
    left.first_chunk::<N>() == right.first_chunk::<N>()
        && left.last_chunk::<N>() == right.last_chunk::<N>()
}

/// Returns true if no two items are equal. The time grows only with the size of
/// the items.
///
/// Up to [`PAIRS_MAX`] scalars are compared in pairs, without an allocation.
/// All other items are hashed with a key that an attacker does not know.
pub(crate) fn unique(items: &[Value]) -> bool {
    let is_scalar = |item: &Value| !matches!(item, Value::Array(_) | Value::Object(_));
    if items.len() <= PAIRS_MAX && items.iter().all(is_scalar) {
        return items
            .iter()
            .enumerate()
            .all(|(index, item)| items[..index].iter().all(|earlier| !equal(earlier, item)));
    }

    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    for item in items {
        let same_hash = seen.entry(hash_of(&state, item)).or_default();
        if same_hash.iter().any(|earlier| equal(earlier, item)) {
            return false;
        }
        same_hash.push(item);
    }
    true
}

const PAIRS_MAX: usize = 16;

fn hash_of(state: &RandomState, value: &Value) -> u64 {
    let mut hasher = state.build_hasher();
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Bool(flag) => (1_u8, flag).hash(&mut hasher),
        Value::Number(number) => {
            2_u8.hash(&mut hasher);
            Num::of(number).hash(&mut hasher);
        }
        Value::String(text) => (3_u8, text).hash(&mut hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(&mut hasher);
            for item in items {
                hash_of(state, item).hash(&mut hasher);
            }
        }
        Value::Object(map) => {
            // A sum, because the order of the keys does not matter.
            let sum = map.iter().fold(0_u64, |sum, (key, item)| {
                sum.wrapping_add(state.hash_one((key, hash_of(state, item))))
            });
            (5_u8, map.len(), sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equality_is_by_value() {
        assert!(equal(&json!({ "a": 1, "b": [2.0] }), &json!({ "b": [2], "a": 1.0 })));
        for (left, right) in [
            (json!(1), json!(true)),
            (json!(0), json!(false)),
            (json!(null), json!(0)),
            (json!("1"), json!(1)),
            (json!([1, 2]), json!([2, 1])),
            (json!([1]), json!([1, 1])),
            (json!({ "a": 1 }), json!({ "a": 1, "b": 1 })),
            (json!({ "a": null }), json!({ "b": null })),
        ] {
            assert!(!equal(&left, &right) && !equal(&right, &left), "{left} {right}");
        }
    }

    #[test]
    fn finds_duplicates_in_small_and_large_lists() {
        let numbers = |count: usize| (0..count).map(|n| json!(n)).collect::<Vec<_>>();
        for count in [0, 1, 16, 17, 1_000] {
            let mut items = numbers(count);
            assert!(unique(&items), "{count}");
            if count > 0 {
                items.push(json!(0.0));
                assert!(!unique(&items), "{count}");
            }
        }
        assert!(!unique(&[json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1.0 })]));
        assert!(unique(&[json!([1]), json!([true]), json!([[1]]), json!({ "0": 1 })]));
    }
}
