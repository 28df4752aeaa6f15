//! The turns of a round: their order, and the difference between hyper's turns.

/// Returns the turns of a round. The first contestant starts and ends it, and
/// every second round is reversed.
pub fn order<T: Copy>(contestants: &[T], number: usize) -> Vec<T> {
    let Some((&hyper, others)) = contestants.split_first() else { return Vec::new() };
    let mut others = others.to_vec();
    if number % 2 == 1 {
        others.reverse();
    }
    [&[hyper], &others[..], &[hyper]].concat()
}

/// Returns the difference between two figures, as a fraction of the smaller
/// one.
pub fn apart(first: f64, last: f64) -> f64 {
    first.max(last) / first.min(last) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_server_begins_and_ends_each_round() {
        assert_eq!(order(&['a', 'b', 'c'], 0), ['a', 'b', 'c', 'a']);
        assert_eq!(order(&['a', 'b', 'c'], 1), ['a', 'c', 'b', 'a']);
        assert_eq!(order(&['a'], 1), ['a', 'a']);
        assert_eq!(order::<char>(&[], 1), []);
    }

    #[test]
    fn the_difference_is_relative_to_the_smaller_value() {
        assert_eq!((apart(2.0, 3.0), apart(3.0, 2.0), apart(2.0, 2.0)), (0.5, 0.5, 0.0));
    }
}
