//! [`sort_by`]: a sort that adds little code to compile and link.
//!
//! `slice::sort_by` generates about 50 functions for each type and order. This
//! function sorts one list of indexes for all types; only the swap of elements
//! is generated for each type. It needs one more allocation, so use
//! `slice::sort_by` for the data of a request.

use std::cmp::Ordering;

/// Sorts `items` like [`slice::sort_by`]. Equal items keep their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted(items.len(), &|one, other| compare(&items[one], &items[other]));
    arrange(order, &mut |one, other| items.swap(one, other));
}

/// Returns the indexes of a list of this length in sorted order.
fn sorted(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Swaps elements until each position holds the element at its index in
/// `order`.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut place = start;
        loop {
            let wanted = std::mem::replace(&mut order[place], place);
            if wanted == start {
                break;
            }
            swap(place, wanted);
            place = wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library() {
        // All lists of up to six digits from 0 to 3, each with its position.
        for length in 0..=6_u32 {
            for number in 0..4_u32.pow(length) {
                let digit = |place: u32| (number / 4_u32.pow(place) % 4, place);
                let mut items: Vec<(u32, u32)> = (0..length).map(digit).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|(digit, _)| *digit);
                sort_by(&mut items, |(one, _), (other, _)| one.cmp(other));
                assert_eq!(items, expected);
            }
        }
    }
}
