//! [`PasswordError`]: the error of hashing a password.

use std::{fmt, io};

use stockade_errors::ApiError;

use crate::RandomError;

/// The error of hashing a password. As an [`ApiError`] it is a 500.
///
/// Checking a password fails for want of a thread alone: an unreadable hash
/// counts as another password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PasswordError {
    /// The function refused the password: Argon2id accepts less than 4 GiB.
    Function,
    /// The operating system gave no random bytes for the salt.
    Random(RandomError),
    /// The work was to be done on another thread, and there is none, or it
    /// ended before the work did.
    Thread(io::ErrorKind),
}

impl fmt::Display for PasswordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function => f.write_str("the password cannot be hashed with this function"),
            Self::Random(error) => error.fmt(f),
            Self::Thread(kind) => write!(f, "no thread hashes the password: {kind}"),
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
