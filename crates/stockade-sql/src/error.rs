//! [`SqlError`]: the errors of every database in one form.

use std::fmt;
use std::time::Duration;

use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::reply::IntoError;
use stockade_core::{Response, RouteDescription};
use stockade_errors::{ApiError, BoxError, StoreError};

/// An error of a database, by what can be done about it.
///
/// As an [`ApiError`] a value that is taken is 409, a database that cannot answer
/// now is 503 with `Retry-After`, and everything else is 500. The text of the
/// database is the source of that error: it is logged, and no client gets it.
///
/// Its `Debug` is a sentence too, with the causes behind it, because that is how a `main`
/// that fails prints it.
#[non_exhaustive]
pub enum SqlError {
    /// A unique constraint refused a row.
    Taken {
        /// The name of the constraint, or `table.column` in SQLite.
        constraint: String,
        /// The error of the driver.
        source: BoxError,
    },
    /// A rule of the database refused a value: its type, range or length, `NOT
    /// NULL`, `CHECK`, or a reference to a row that is missing.
    Invalid {
        /// The name of the column, if the database tells it.
        column: Option<String>,
        /// The error of the driver.
        source: BoxError,
    },
    /// Other transactions were in the way; the same statement may succeed when it
    /// is repeated. Nothing of it was kept.
    Conflict(BoxError),
    /// The database cannot answer now: it is down, too slow, or has too much to do.
    ///
    /// A statement that writes may have been kept, if the connection broke while
    /// it ran.
    Unavailable {
        /// The time after which the client may try again.
        retry_after: Duration,
        /// The error of the driver, or the limit that was reached.
        source: BoxError,
    },
    /// Any other error.
    Failed(BoxError),
}

impl SqlError {
    /// The time after which a client may try again, unless something better is
    /// known.
    pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

    /// Makes an error of a database that cannot answer now, after which a client
    /// may try again in a second.
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::Unavailable { retry_after: Self::RETRY_AFTER, source: source.into() }
    }

    /// Makes an error that has no better class.
    pub fn failed(source: impl Into<BoxError>) -> Self {
        Self::Failed(source.into())
    }

    /// Returns the error of the driver.
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
            Self::Taken { .. } => "a value is taken",
            Self::Invalid { .. } => "the database refused a value",
            Self::Conflict(_) => "another transaction was in the way",
            Self::Unavailable { .. } => "the database cannot answer now",
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

/// Keeps the class of the error: a client gets the same status as from the [`ApiError`].
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
        doc.may_fail(&[(409, "A value is taken"), (500, "")]);
        let retry_after = HeaderDoc::new("Retry-After", "The seconds until the next attempt");
        let unavailable = ResponseDoc::error(503).meaning("The database cannot answer now");
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
