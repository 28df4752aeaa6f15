//! The common error type of all databases.

use std::fmt;
use std::time::Duration;

use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::reply::IntoError;
use stockade_core::{Response, RouteDescription};
use stockade_errors::{ApiError, BoxError, StoreError};

/// A database error, classified by how to handle it.
///
/// As an [`ApiError`], a duplicate value is a 409, a database that cannot
/// respond now is a 503 with `Retry-After`, and everything else is a 500. The
/// database's message is the error's source: it is logged but never sent to
/// clients.
///
/// `Debug` prints a sentence with the chain of causes, because a failing `main`
/// prints its error with `Debug`.
#[non_exhaustive]
pub enum SqlError {
    /// A unique constraint rejected a row.
    Taken {
        /// The name of the constraint, or `table.column` in SQLite.
        constraint: String,
        /// The driver's error.
        source: BoxError,
    },
    /// A database rule rejected a value: its type, range or length, `NOT NULL`,
    /// `CHECK`, or a reference to a missing row.
    Invalid {
        /// The name of the column, if the database reports it.
        column: Option<String>,
        /// The driver's error.
        source: BoxError,
    },
    /// A conflict with other transactions. Nothing was changed, and a retry may
    /// succeed.
    Conflict(BoxError),
    /// The database cannot respond now: it is down, too slow or overloaded.
    ///
    /// If the connection broke during a write, the write may still have
    /// succeeded.
    Unavailable {
        /// The time before the client may retry.
        retry_after: Duration,
        /// The driver's error, or the limit that was reached.
        source: BoxError,
    },
    /// Any other error.
    Failed(BoxError),
}

impl SqlError {
    /// The default time before a client may retry.
    pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

    /// Creates an error for a database that cannot respond now. The client may
    /// retry after a second.
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::Unavailable { retry_after: Self::RETRY_AFTER, source: source.into() }
    }

    /// Creates an error without a specific class.
    pub fn failed(source: impl Into<BoxError>) -> Self {
        Self::Failed(source.into())
    }

    /// Returns the driver's error.
    #[must_use]
    pub fn cause(&self) -> &BoxError {
        match self {
            Self::Taken { source, .. }
            | Self::Invalid { source, .. }
            | Self::Unavailable { source, .. }
            | Self::Conflict(source)
            | Self::Failed(source) => source,
        }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self {
            Self::Taken { .. } => "a value is already in use",
            Self::Invalid { .. } => "the database rejected a value",
            Self::Conflict(_) => "another transaction conflicted",
            Self::Unavailable { .. } => "the database is unavailable",
            Self::Failed(_) => "the database failed",
        };
        write!(f, "{class}: {}", self.cause())
    }
}

impl fmt::Debug for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.to_string();
        let mut cause = self.cause().source();
        while let Some(inner) = cause {
            let of_inner = inner.to_string();
            if !text.contains(&of_inner) {
                text.push_str(": ");
                text.push_str(&of_inner);
            }
            cause = inner.source();
        }
        f.write_str(&text)
    }
}

impl std::error::Error for SqlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause().as_ref())
    }
}

impl From<SqlError> for ApiError {
    fn from(error: SqlError) -> Self {
        let retry_after = match &error {
            SqlError::Taken { .. } => {
                return Self::from(StoreError::taken("")).with_source(error);
            }
            SqlError::Invalid { .. } | SqlError::Failed(_) => return Self::internal(error),
            SqlError::Conflict(_) => SqlError::RETRY_AFTER,
            SqlError::Unavailable { retry_after, .. } => *retry_after,
        };
        StoreError::busy(retry_after, error).into()
    }
}

/// Preserves the error class, so a client gets the same status as from the
/// [`ApiError`].
impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match &error {
            SqlError::Taken { .. } => Self::taken(""),
            SqlError::Invalid { .. } | SqlError::Failed(_) => Self::failed(error),
            SqlError::Conflict(_) => Self::busy(SqlError::RETRY_AFTER, error),
            SqlError::Unavailable { retry_after, .. } => Self::busy(*retry_after, error),
        }
    }
}

impl IntoError for SqlError {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(self.into())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.may_fail(&[(409, "A value is already in use"), (500, "")]);
        let retry_after =
            HeaderDoc::new("Retry-After", "The number of seconds until the next attempt");
        let unavailable = ResponseDoc::error(503).meaning("The database is unavailable");
        doc.responds(unavailable.header(retry_after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: SqlError, status: u16, retry_after: Option<&str>) {
        let error = ApiError::from(error);
        assert_eq!(error.status(), status);
        let header = error.headers().find(|(name, _)| *name == "Retry-After");
        assert_eq!(header.map(|(_, value)| value), retry_after);
        assert!(!error.public_message(false).contains("secret"), "{error}");
        assert!(error.public_details().is_none());
    }

    #[test]
    fn a_store_error_has_the_same_status() {
        let errors = || {
            [
                SqlError::Taken { constraint: "secret_key".into(), source: "secret".into() },
                SqlError::Invalid { column: None, source: "secret".into() },
                SqlError::failed("secret"),
                SqlError::Conflict("secret".into()),
                SqlError::unavailable("secret"),
            ]
        };
        for (one, other) in errors().into_iter().zip(errors()) {
            let stored = ApiError::from(StoreError::from(one));
            assert_eq!(stored.status(), ApiError::from(other).status());
            assert!(!stored.public_message(false).contains("secret"), "{stored}");
        }
    }

    #[test]
    fn each_class_has_its_status_and_hides_its_text() {
        let taken = SqlError::Taken { constraint: "secret_key".into(), source: "secret".into() };
        check(taken, 409, None);
        check(SqlError::Invalid { column: None, source: "secret".into() }, 500, None);
        check(SqlError::failed("secret"), 500, None);
        check(SqlError::Conflict("secret".into()), 503, Some("1"));
        check(SqlError::unavailable("secret"), 503, Some("1"));
        let retry_after = Duration::from_millis(2_001);
        check(SqlError::Unavailable { retry_after, source: "secret".into() }, 503, Some("3"));
        let retry_after = Duration::ZERO;
        check(SqlError::Unavailable { retry_after, source: "secret".into() }, 503, Some("1"));
    }
}
