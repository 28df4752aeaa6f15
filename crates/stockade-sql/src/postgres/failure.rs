//! The classes of the errors of PostgreSQL.

use std::io;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;

use crate::SqlError;

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        if let Some(cause) = error.as_db_error() {
            let (constraint, column) = (cause.constraint(), cause.column());
            // The cause alone: it has the text of the server.
            return Self::of_sqlstate(cause.code().code(), constraint, column, cause.clone());
        }
        // The connection broke, or there is none.
        let is_io =
            std::error::Error::source(&error).is_some_and(|source| source.is::<io::Error>());
        if is_io || error.is_closed() { Self::unavailable(error) } else { Self::failed(error) }
    }
}

impl From<PoolError> for SqlError {
    fn from(error: PoolError) -> Self {
        match error {
            // A wrong password, or a database that is not there.
            PoolError::Backend(cause) if cause.as_db_error().is_some() => cause.into(),
            PoolError::Backend(_) | PoolError::Timeout(_) => Self::unavailable(error),
            _ => Self::failed(error),
        }
    }
}
