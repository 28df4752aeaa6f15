//! [`PasswordError`]: the error of hashing a password.

use std::fmt;

use stockade_errors::ApiError;

use crate::RandomError;

/// The error of hashing a password. As an [`ApiError`] it is a 500.
///
/// Checking a password never fails: an unreadable hash counts as another
/// password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PasswordError {
    /// The function refused the password: Argon2id accepts less than 4 GiB.
    Function,
    /// The operating system gave no random bytes for the salt.
    Random(RandomError),
}

impl fmt::Display for PasswordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function => f.write_str("the password cannot be hashed with this function"),
            Self::Random(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PasswordError {}

impl From<RandomError> for PasswordError {
    fn from(error: RandomError) -> Self {
        Self::Random(error)
    }
}

impl From<PasswordError> for ApiError {
    fn from(error: PasswordError) -> Self {
        Self::internal(error)
    }
}
