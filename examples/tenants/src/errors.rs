//! The errors of the request handlers.

use stockade::auth::PasswordError;
use stockade::prelude::*;
use stockade::sql::{SqlError, rusqlite};

/// An error of a request handler.
#[derive(ApiError, Debug)]
pub enum TrackerError {
    /// The object does not exist, or belongs to another company. Clients cannot
    /// see the difference.
    #[status(404, "unknown {0}")]
    Unknown(&'static str),
    #[status(401, "wrong email address or password")]
    WrongPassword,
    #[status(409, "the {0} already exists")]
    Taken(&'static str),
    #[status(transparent)]
    Password(#[from] PasswordError),
    #[status(transparent)]
    Session(#[from] ApiError),
    #[status(transparent)]
    Database(#[from] SqlError),
}

impl From<rusqlite::Error> for TrackerError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}

impl TrackerError {
    /// Reports a value that is already in use.
    pub fn or_taken(self, value: &'static str) -> Self {
        match self {
            Self::Database(SqlError::Taken { .. }) => Self::Taken(value),
            other => other,
        }
    }
}
