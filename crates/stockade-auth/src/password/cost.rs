//! [`PasswordCost`]: the work of a password hash.

use std::panic::Location;

use stockade_errors::{ConfigError, ConfigIssue};

/// The work of a password hash, both for the server that verifies it and for an
/// attacker who guesses.
///
/// The default is PBKDF2-HMAC-SHA512 with 210,000 iterations, as OWASP
/// recommends. The specification uses 10,000, which is outdated.
///
/// ```
/// use stockade_auth::PasswordCost;
///
/// assert_eq!(PasswordCost::default(), PasswordCost::pbkdf2(210_000)?);
/// assert!(PasswordCost::pbkdf2(9_999).is_err());
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PasswordCost {
    pub(super) work: Work,
}

/// The function and its parameters.
///
/// Invariant: every number is within the limits below. Otherwise a stored hash
/// could make verification run almost forever.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Work {
    /// PBKDF2-HMAC-SHA512 with this number of iterations.
    Pbkdf2 { iterations: u32 },
    /// Argon2id, version 0x13.
    Argon2id { memory_kib: u32, passes: u32, lanes: u32 },
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { work: Work::Pbkdf2 { iterations: ADVISED_ITERATIONS } }
    }
}

impl PasswordCost {
    /// The first choice of OWASP for Argon2id.
    #[cfg(feature = "argon2")]
    pub(super) const ADVISED_ARGON2ID: Self =
        Self { work: Work::Argon2id { memory_kib: 19_456, passes: 2, lanes: 1 } };

    /// Returns a cost of PBKDF2-HMAC-SHA512 with this number of iterations.
    ///
    /// # Errors
    /// Fails below 10,000 iterations, the value of the specification, and above
    /// 10,000,000.
    #[track_caller]
    pub fn pbkdf2(iterations: u32) -> Result<Self, ConfigError> {
        let location = Location::caller();
        if iterations < SPECIFIED_ITERATIONS {
            let message = format!(
                "PBKDF2 needs at least {SPECIFIED_ITERATIONS} iterations, found {iterations}"
            );
            return Err(ConfigIssue::new(message).at(location).into());
        }
        let cost = Work::Pbkdf2 { iterations }.checked();
        cost.map(|work| Self { work })
            .map_err(|message| ConfigIssue::new(message).at(location).into())
    }

    /// Returns a cost of Argon2id with this memory in KiB, this number of
    /// passes, and this number of lanes. OWASP recommends 19,456 KiB (19 MiB),
    /// 2 passes and 1 lane.
    ///
    /// # Errors
    /// Fails for memory below 8 KiB per lane or above 1,048,576 KiB (1 GiB),
    /// passes outside 1..=64, and lanes outside 1..=16.
    #[cfg(feature = "argon2")]
    #[track_caller]
    pub fn argon2id(memory_kib: u32, passes: u32, lanes: u32) -> Result<Self, ConfigError> {
        let location = Location::caller();
        let cost = Work::Argon2id { memory_kib, passes, lanes }.checked();
        cost.map(|work| Self { work })
            .map_err(|message| ConfigIssue::new(message).at(location).into())
    }
}

/// For route maps, without a promise of stability.
#[doc(hidden)]
impl PasswordCost {
    /// Returns the name of the function, and the names and values of its
    /// parameters.
    #[must_use]
    pub fn parameters(self) -> (&'static str, Vec<(&'static str, u64)>) {
        match self.work {
            Work::Pbkdf2 { iterations } => {
                ("pbkdf2-sha512", vec![("iterations", iterations.into())])
            }
            Work::Argon2id { memory_kib, passes, lanes } => {
                let numbers = [("memory_kib", memory_kib), ("passes", passes), ("lanes", lanes)];
                ("argon2id", numbers.map(|(name, number)| (name, number.into())).into())
            }
        }
    }

    /// Returns true if it is at least the cost that OWASP recommends.
    #[must_use]
    pub fn is_recommended(self) -> bool {
        self.work.is_at_least(Self::default().work)
    }
}

impl Work {
    /// The cost of the specification's format.
    pub(super) const SPECIFIED: Self = Self::Pbkdf2 { iterations: SPECIFIED_ITERATIONS };

    /// Returns the cost if it is within the limits.
    pub(super) fn checked(self) -> Result<Self, String> {
        let (is_within, limits) = match self {
            Self::Pbkdf2 { iterations } => {
                ((1..=MAX_ITERATIONS).contains(&iterations), "1 to 10,000,000 iterations")
            }
            Self::Argon2id { memory_kib, passes, lanes } => (
                (1..=MAX_LANES).contains(&lanes)
                    && (1..=MAX_PASSES).contains(&passes)
                    && (MIN_KIB_PER_LANE * lanes..=MAX_MEMORY_KIB).contains(&memory_kib),
                "8 KiB per lane to 1 GiB, 1 to 64 passes, 1 to 16 lanes",
            ),
        };
        if is_within { Ok(self) } else { Err(format!("the cost is outside the limits: {limits}")) }
    }

    /// Returns true if a hash of this cost is as strong as `wanted`, by the
    /// rule of [`needs_rehash`](super::needs_rehash).
    pub(super) fn is_at_least(self, wanted: Self) -> bool {
        match (self, wanted) {
            (Self::Pbkdf2 { iterations }, Self::Pbkdf2 { iterations: wanted }) => {
                iterations >= wanted
            }
            (
                Self::Argon2id { memory_kib, passes, .. },
                Self::Argon2id { memory_kib: wanted_kib, passes: wanted_passes, .. },
            ) => memory_kib >= wanted_kib && passes >= wanted_passes,
            (Self::Argon2id { memory_kib, passes, .. }, Self::Pbkdf2 { .. }) => ADVISED_ARGON2ID
                .iter()
                .any(|advised| memory_kib >= advised.0 && passes >= advised.1),
            (Self::Pbkdf2 { .. }, Self::Argon2id { .. }) => false,
        }
    }
}

// Spec: Limits › Password hash cost.
pub(super) const SPECIFIED_ITERATIONS: u32 = 10_000;
/// OWASP Password Storage Cheat Sheet, PBKDF2-HMAC-SHA512.
const ADVISED_ITERATIONS: u32 = 210_000;
/// OWASP Password Storage Cheat Sheet, Argon2id: pairs of memory in KiB and
/// passes, all equally strong.
const ADVISED_ARGON2ID: [(u32, u32); 5] =
    [(47_104, 1), (19_456, 2), (12_288, 3), (9_216, 4), (7_168, 5)];
/// About five seconds of processor time.
const MAX_ITERATIONS: u32 = 10_000_000;
/// RFC 9106, section 3.1.
const MIN_KIB_PER_LANE: u32 = 8;
const MAX_MEMORY_KIB: u32 = 1_048_576;
const MAX_PASSES: u32 = 64;
const MAX_LANES: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_costs_of_one_algorithm() {
        #[track_caller]
        fn check(stored: Work, wanted: Work, expected: bool) {
            assert_eq!(stored.is_at_least(wanted), expected, "{stored:?}, {wanted:?}");
        }
        let pbkdf2 = |iterations| Work::Pbkdf2 { iterations };
        let argon2id = |memory_kib, passes, lanes| Work::Argon2id { memory_kib, passes, lanes };
        check(pbkdf2(9_999), pbkdf2(10_000), false);
        check(pbkdf2(10_000), pbkdf2(10_000), true);
        check(argon2id(64, 2, 1), argon2id(64, 2, 4), true);
        check(argon2id(63, 2, 1), argon2id(64, 2, 1), false);
        check(argon2id(64, 1, 1), argon2id(64, 2, 1), false);
        check(argon2id(128, 1, 1), argon2id(64, 2, 1), false);
        // PBKDF2 is weaker at any cost.
        check(pbkdf2(10_000_000), argon2id(8, 1, 1), false);
        // Argon2id is stronger if its cost is at least the recommended one.
        for (memory_kib, passes) in ADVISED_ARGON2ID {
            check(argon2id(memory_kib, passes, 1), pbkdf2(10_000_000), true);
            check(argon2id(memory_kib - 1, passes, 1), pbkdf2(10_000), false);
        }
        check(argon2id(47_103, 1, 1), pbkdf2(10_000), false);
        check(argon2id(8, 1, 1), Work::SPECIFIED, false);
        check(argon2id(8, 64, 1), Work::SPECIFIED, false);
    }

    #[test]
    fn a_cost_shows_its_parameters() {
        let cost = PasswordCost::default();
        assert_eq!(cost.parameters(), ("pbkdf2-sha512", vec![("iterations", 210_000)]));
        assert!(cost.is_recommended());
        assert!(!PasswordCost::pbkdf2(209_999).unwrap().is_recommended());
        let argon2id = |memory_kib, passes| PasswordCost {
            work: Work::Argon2id { memory_kib, passes, lanes: 1 },
        };
        let numbers = vec![("memory_kib", 19_456), ("passes", 2), ("lanes", 1)];
        assert_eq!(argon2id(19_456, 2).parameters(), ("argon2id", numbers));
        assert!(argon2id(19_456, 2).is_recommended() && !argon2id(19_456, 1).is_recommended());
    }

    #[test]
    fn costs_are_bounded() {
        #[track_caller]
        fn check(work: Work, expected: bool) {
            assert_eq!(work.checked().is_ok(), expected, "{work:?}");
        }
        for (iterations, expected) in
            [(0, false), (1, true), (10_000_000, true), (10_000_001, false)]
        {
            check(Work::Pbkdf2 { iterations }, expected);
        }
        for (memory_kib, passes, lanes, expected) in [
            (8, 1, 1, true),
            (7, 1, 1, false),
            (15, 1, 2, false),
            (1_048_576, 64, 16, true),
            (1_048_577, 1, 1, false),
            (64, 65, 1, false),
            (64, 0, 1, false),
            (1_024, 1, 17, false),
            (64, 1, 0, false),
            (u32::MAX, u32::MAX, u32::MAX, false),
        ] {
            check(Work::Argon2id { memory_kib, passes, lanes }, expected);
        }
    }
}
