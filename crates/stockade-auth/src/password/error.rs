//! [`PasswordError`]: why a password was not hashed.

use std::fmt;

use stockade_errors::ApiError;

use crate::RandomError;

/// Why a password was not hashed; as an [`ApiError`] it is a 500.
///
/// Checking a password never fails: what cannot be checked is not the password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PasswordError {
    /// The function refused the password: Argon2id takes less than 4 GiB.
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
