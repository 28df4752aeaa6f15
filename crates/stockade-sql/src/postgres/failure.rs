//! Classifies PostgreSQL errors.

use std::io;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;

use crate::SqlError;

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        if let Some(cause) = error.as_db_error() {
            let (constraint, column) = (cause.constraint(), cause.column());
            // Only the cause, which contains the server's message.
            return Self::of_sqlstate(cause.code().code(), constraint, column, cause.clone());
        }
        // The connection broke or was never made.
        let is_io =
            std::error::Error::source(&error).is_some_and(|source| source.is::<io::Error>());
        if is_io || error.is_closed() { Self::unavailable(error) } else { Self::failed(error) }
    }
}

impl From<PoolError> for SqlError {
    fn from(error: PoolError) -> Self {
        match error {
            // A wrong password, or a missing database.
            PoolError::Backend(cause) if cause.as_db_error().is_some() => cause.into(),
            PoolError::Backend(_) | PoolError::Timeout(_) => Self::unavailable(error),
            _ => Self::failed(error),
        }
    }
}
