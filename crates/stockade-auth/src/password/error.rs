//! [`PasswordError`]: an error while hashing a password.

use std::{fmt, io};

use stockade_errors::ApiError;

use crate::RandomError;

/// An error while hashing a password. As an [`ApiError`] it is a 500.
///
/// Verification fails only if no thread is available: an unreadable hash counts
/// as a wrong password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PasswordError {
    /// The function rejected the password: Argon2id accepts less than 4 GiB.
    Function,
    /// The operating system provided no random bytes for the salt.
    Random(RandomError),
    /// The work could not run on another thread: no thread was available, or
    /// the thread ended too early.
    Thread(io::ErrorKind),
}

impl fmt::Display for PasswordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function => f.write_str("the password cannot be hashed with this function"),
            Self::Random(error) => error.fmt(f),
            Self::Thread(kind) => write!(f, "cannot start a thread to hash the password: {kind}"),
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
