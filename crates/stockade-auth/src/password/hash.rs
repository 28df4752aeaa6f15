//! [`hash_password`], [`verify_password`] and related functions.
// Spec: Authentication › Password functions.

use super::cost::Work;
use super::derive::{derive, is_hash_of};
use super::password_hash::{
    ARGON2ID_LENGTH, PBKDF2_LENGTH, PasswordHash, SALT_LENGTH, write_phc, write_specified,
};
use super::{PasswordCost, PasswordError};
use crate::random::array;

/// Hashes a password as the specification requires, at a cost that is outdated.
/// Use [`PasswordHasher`](crate::PasswordHasher) in new programs.
///
/// It uses 10,000 iterations of PBKDF2-HMAC-SHA512 with 16 random bytes of
/// salt, and returns `<salt hex>:<hash hex>` with 64 bytes of hash. OWASP
/// recommends 210,000 iterations. [`verify_password`] and every
/// [`PasswordHasher`](crate::PasswordHasher) accept these hashes;
/// [`needs_rehash`](crate::PasswordHasher::needs_rehash) reports them as weak.
///
/// Hashing takes several milliseconds of processor time. Servers should call it
/// on a thread that may block.
///
/// ```
/// use stockade_auth::{hash_password, verify_password};
///
/// let stored = hash_password("correct horse")?;
/// assert_eq!(stored.len(), 32 + 1 + 128);
/// assert!(verify_password("correct horse", &stored));
/// assert!(!verify_password("wrong horse", &stored));
/// # Ok::<(), stockade_auth::PasswordError>(())
/// ```
///
/// # Errors
/// Fails if the operating system provides no randomness. Every password is
/// accepted, including the empty one.
// Spec: Authentication › Password functions.
#[doc(alias = "hashPassword")]
pub fn hash_password(password: &str) -> Result<String, PasswordError> {
    let salt: [u8; SALT_LENGTH] = array()?;
    let mut hash = [0; PBKDF2_LENGTH];
    derive(Work::SPECIFIED, password.as_bytes(), &salt, &mut hash)?;
    Ok(write_specified(&salt, &hash))
}

/// Hashes a password at this cost, in the PHC string format, which contains the
/// function and its cost.
///
/// ```
/// use stockade_auth::{PasswordCost, hash_password_with, needs_rehash, verify_password};
///
/// let cost = PasswordCost::pbkdf2(20_000)?;
/// let stored = hash_password_with("correct horse", cost)?;
/// assert!(stored.starts_with("$pbkdf2-sha512$i=20000$"));
/// assert!(verify_password("correct horse", &stored));
/// assert!(needs_rehash(&stored, PasswordCost::default()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the operating system provides no randomness, or if Argon2id rejects
/// a password of 4 GiB or more.
///
/// # Beyond the spec
/// The specification only has [`hash_password`].
pub fn hash_password_with(password: &str, cost: PasswordCost) -> Result<String, PasswordError> {
    let salt: [u8; SALT_LENGTH] = array()?;
    let length = match cost.work {
        Work::Pbkdf2 { .. } => PBKDF2_LENGTH,
        Work::Argon2id { .. } => ARGON2ID_LENGTH,
    };
    let mut hash = vec![0; length];
    derive(cost.work, password.as_bytes(), &salt, &mut hash)?;
    Ok(write_phc(cost.work, &salt, &hash))
}

/// Returns true if the password matches the stored hash. Returns false for a
/// malformed hash.
///
/// It accepts all formats of this crate, with hex in either case. It also
/// accepts hashes of older programs in the specification's format, which used
/// the 32 characters as salt instead of the 16 bytes. Hashes are compared in
/// constant time. An Argon2id hash needs the feature `argon2`. If the feature is
/// disabled, no password matches such a hash, and the log has a warning.
///
/// A stored value with more than 10,000,000 iterations, 1 GiB or 64 passes
/// counts as malformed.
// Spec: Authentication › Password functions.
#[doc(alias = "verifyPassword")]
#[must_use]
pub fn verify_password(password: &str, stored: &str) -> bool {
    let Some(stored) = PasswordHash::parse(stored) else { return false };
    let password = password.as_bytes();
    let fits = |salt: &[u8]| is_hash_of(stored.work, password, salt, &stored.hash);
    fits(&stored.salt) || stored.salt_text.as_ref().is_some_and(|text| fits(text.as_bytes()))
}

/// Returns true if a stored hash is weaker than `cost` or malformed. Hash the
/// password again the next time it is known.
///
/// | Stored | Wanted | Weaker |
/// |---|---|---|
/// | PBKDF2 | PBKDF2 | with fewer iterations |
/// | Argon2id | Argon2id | with less memory, or fewer passes; lanes do not count |
/// | PBKDF2 | Argon2id | always |
/// | Argon2id | PBKDF2 | below all recommendations of OWASP for Argon2id: 46 MiB and 1 pass, 19 MiB and 2, 12 MiB and 3, 9 MiB and 4, 7 MiB and 5 |
///
/// A hash in the specification's format counts as PBKDF2 with 10,000
/// iterations.
///
/// ```
/// use stockade_auth::{PasswordCost, hash_password, needs_rehash};
///
/// let stored = hash_password("correct horse")?;
/// assert!(needs_rehash(&stored, PasswordCost::default()));
/// assert!(!needs_rehash(&stored, PasswordCost::pbkdf2(10_000)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn needs_rehash(stored: &str, cost: PasswordCost) -> bool {
    PasswordHash::parse(stored).is_none_or(|stored| !stored.work.is_at_least(cost.work))
}
