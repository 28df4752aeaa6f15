//! [`PasswordHasher`]: hashes and verifies passwords at a fixed cost.

use super::{PasswordCost, PasswordError, hash_password_with, needs_rehash, verify_password};

/// Hashes and verifies passwords at a cost that the program sets once.
///
/// ```
/// use stockade_auth::{PasswordHasher, hash_password};
///
/// let hasher = PasswordHasher::recommended();
/// let stored = hasher.hash("correct horse")?;
/// assert!(hasher.verify("correct horse", &stored));
/// assert!(!hasher.needs_rehash(&stored));
///
/// // Hashes of older programs are accepted and reported for rehashing.
/// let old = hash_password("correct horse")?;
/// assert!(hasher.verify("correct horse", &old) && hasher.needs_rehash(&old));
/// # Ok::<(), stockade_auth::PasswordError>(())
/// ```
///
/// Use `from` for another cost, such as a low one in tests:
///
/// ```
/// use stockade_auth::{PasswordCost, PasswordHasher};
///
/// let quick = PasswordHasher::from(PasswordCost::pbkdf2(10_000)?);
/// assert!(quick.verify("correct horse", &quick.hash("correct horse")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A PBKDF2 hash took 80 ms of one processor in a release build, and 530 ms in
/// a debug build (2026-11-22). Set `opt-level = 3` for `ring` and `argon2` under
/// `[profile.dev.package]` to make debug builds as fast.
///
/// # Beyond the spec
/// The specification only has [`hash_password`](crate::hash_password).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PasswordHasher {
    cost: PasswordCost,
}

impl PasswordHasher {
    /// Creates the hasher for new programs: PBKDF2-HMAC-SHA512 with 210,000
    /// iterations, as OWASP recommends. Crate features do not change it.
    #[must_use]
    pub fn recommended() -> Self {
        Self { cost: PasswordCost::default() }
    }

    /// Creates a hasher that uses Argon2id with 19,456 KiB (19 MiB), 2 passes
    /// and 1 lane, as OWASP recommends. Graphics cards attack it less
    /// efficiently than PBKDF2.
    #[cfg(feature = "argon2")]
    #[must_use]
    pub fn argon2id() -> Self {
        Self { cost: PasswordCost::ADVISED_ARGON2ID }
    }

    /// Returns the cost of new hashes.
    #[must_use]
    pub fn cost(&self) -> PasswordCost {
        self.cost
    }

    /// Hashes a password in the PHC string format. Blocks the thread.
    ///
    /// # Errors
    /// Fails as [`hash_password_with`] does.
    pub fn hash(&self, password: &str) -> Result<String, PasswordError> {
        hash_password_with(password, self.cost)
    }

    /// Returns true if the password matches the stored hash, in any format and
    /// at any cost; see [`verify_password`].
    #[must_use]
    pub fn verify(&self, password: &str, stored: &str) -> bool {
        verify_password(password, stored)
    }

    /// Returns true if a stored hash is weaker than the cost of this hasher, by
    /// the rule of [`needs_rehash`].
    #[must_use]
    pub fn needs_rehash(&self, stored: &str) -> bool {
        needs_rehash(stored, self.cost)
    }
}

/// Returns the recommended hasher.
impl Default for PasswordHasher {
    fn default() -> Self {
        Self::recommended()
    }
}

/// Creates a hasher with this cost.
impl From<PasswordCost> for PasswordHasher {
    fn from(cost: PasswordCost) -> Self {
        Self { cost }
    }
}
