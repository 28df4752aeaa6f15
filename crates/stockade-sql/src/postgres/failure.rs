//! The classes of the errors of PostgreSQL.

use std::io;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::DbError;

use crate::SqlError;

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        if let Some(cause) = error.as_db_error() {
            return Class::of(cause.code().code()).error(cause.clone(), error);
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

/// The classes of the codes of PostgreSQL (its documentation, appendix A).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Taken,
    Invalid,
    Conflict,
    Unavailable,
    Failed,
}

impl Class {
    fn of(code: &str) -> Self {
        match code {
            // Unique, and its general form.
            "23505" | "23P01" => Self::Taken,
            // NOT NULL, references, CHECK.
            "23502" | "23503" | "23514" => Self::Invalid,
            "40001" | "40P01" => Self::Conflict,
            // Ended, by the time or a person; a lock; a server that became a copy.
            "57014" | "57P01" | "57P02" | "57P03" | "55P03" | "25006" => Self::Unavailable,
            _ => match code.get(..2) {
                // Data; connection; resources; system.
                Some("22") => Self::Invalid,
                Some("08" | "53" | "58") => Self::Unavailable,
                _ => Self::Failed,
            },
        }
    }

    fn error(self, cause: DbError, error: Error) -> SqlError {
        match self {
            Self::Taken => SqlError::Taken {
                // PostgreSQL always names it.
                constraint: cause.constraint().unwrap_or_default().to_owned(),
                source: error.into(),
            },
            Self::Invalid => SqlError::Invalid {
                column: cause.column().map(str::to_owned),
                source: Box::new(cause),
            },
            Self::Conflict => SqlError::Conflict(error.into()),
            Self::Unavailable => SqlError::unavailable(error),
            // With its code, which the outer error leaves out.
            Self::Failed => SqlError::failed(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_classes() {
        for (code, expected) in [
            ("23505", Class::Taken),
            ("23502", Class::Invalid),
            ("22P02", Class::Invalid),
            ("22003", Class::Invalid),
            ("40001", Class::Conflict),
            ("40P01", Class::Conflict),
            ("57014", Class::Unavailable),
            ("57P01", Class::Unavailable),
            ("53300", Class::Unavailable),
            ("08006", Class::Unavailable),
            ("42P01", Class::Failed),
            ("42501", Class::Failed),
            ("28P01", Class::Failed),
            ("2", Class::Failed),
        ] {
            assert_eq!(Class::of(code), expected, "{code}");
        }
    }
}
