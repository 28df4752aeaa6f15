//! [`PasswordInfo`]: the cost of password hashes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The cost of new password hashes.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PasswordInfo {
    /// The function: `argon2id` or `pbkdf2-sha512`.
    pub algorithm: String,
    /// The parameters of the function: `iterations`, or `memory_kib`, `passes`
    /// and `lanes`.
    pub parameters: BTreeMap<String, u64>,
    /// True if the cost is at least the cost that OWASP recommends.
    pub is_recommended: bool,
}

impl PasswordInfo {
    /// Describes a function with its parameters, below the recommended cost.
    #[must_use]
    pub fn new(algorithm: &str, parameters: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        let parameters = parameters.into_iter();
        Self {
            algorithm: algorithm.to_owned(),
            parameters: parameters.map(|(name, number)| (name.to_owned(), number)).collect(),
            is_recommended: false,
        }
    }

    /// Returns true if a hash of this cost is easier to guess than a hash of the
    /// other cost.
    #[cfg(feature = "lock")]
    pub(crate) fn is_weaker_than(&self, other: &Self) -> bool {
        if self.algorithm != other.algorithm {
            return match (self.is_recommended, other.is_recommended) {
                (false, true) => true,
                (true, false) => false,
                _ => self.algorithm != "argon2id",
            };
        }
        // The number of lanes only divides the same work.
        let numbers = other.parameters.iter().filter(|(name, _)| *name != "lanes");
        numbers.into_iter().any(|(name, number)| self.parameters.get(name) < Some(number))
    }
}

#[cfg(all(test, feature = "lock"))]
mod tests {
    use super::*;

    #[test]
    fn a_weaker_cost_is_easier_to_guess() {
        let of = |algorithm, is_recommended, numbers: &[(&'static str, u64)]| {
            let mut info = PasswordInfo::new(algorithm, numbers.iter().copied());
            info.is_recommended = is_recommended;
            info
        };
        let pbkdf2 = |iterations| of("pbkdf2-sha512", true, &[("iterations", iterations)]);
        let argon2id = |memory_kib, passes, lanes| {
            let numbers = [("memory_kib", memory_kib), ("passes", passes), ("lanes", lanes)];
            of("argon2id", true, &numbers)
        };
        #[track_caller]
        fn check(weaker: &PasswordInfo, stronger: &PasswordInfo) {
            assert!(weaker.is_weaker_than(stronger) && !stronger.is_weaker_than(weaker));
        }
        check(&pbkdf2(210_000), &pbkdf2(220_000));
        check(&argon2id(19_456, 2, 1), &argon2id(19_456, 3, 1));
        check(&argon2id(19_455, 2, 1), &argon2id(19_456, 2, 1));
        check(&pbkdf2(10_000_000), &argon2id(19_456, 2, 1));
        check(&of("argon2id", false, &[("memory_kib", 8)]), &pbkdf2(210_000));
        assert!(!argon2id(19_456, 2, 1).is_weaker_than(&argon2id(19_456, 2, 4)));
        assert!(!pbkdf2(210_000).is_weaker_than(&pbkdf2(210_000)));
    }
}
