//! Classifies PostgreSQL error codes (PostgreSQL documentation, appendix A).

use stockade_errors::BoxError;

use crate::SqlError;

impl SqlError {
    /// Classifies an error by its PostgreSQL code (SQLSTATE), with the names of
    /// the constraint and the column if the database reports them.
    ///
    /// ```
    /// use stockade::sql::SqlError;
    ///
    /// let error = SqlError::of_sqlstate("23505", Some("users_email_key"), None, "duplicate key");
    /// assert!(matches!(error, SqlError::Taken { constraint, .. } if constraint == "users_email_key"));
    /// let error = SqlError::of_sqlstate("57P01", None, None, "the server shuts down");
    /// assert!(matches!(error, SqlError::Unavailable { .. }));
    /// ```
    pub fn of_sqlstate(
        code: &str,
        constraint: Option<&str>,
        column: Option<&str>,
        source: impl Into<BoxError>,
    ) -> Self {
        let source = source.into();
        match Class::of(code) {
            Class::Taken => {
                // A constraint without a name does not belong to a field.
                let constraint = constraint.unwrap_or_default().to_owned();
                Self::Taken { constraint, source }
            }
            Class::Invalid => Self::Invalid { column: column.map(str::to_owned), source },
            Class::Conflict => Self::Conflict(source),
            Class::Unavailable => Self::unavailable(source),
            Class::Failed => Self::Failed(source),
        }
    }
}

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
            // Unique and exclusion constraints.
            "23505" | "23P01" => Self::Taken,
            // NOT NULL, references, `RESTRICT` (PostgreSQL 18 and later),
            // CHECK; a value beyond a limit, such as the size of an index row;
            // a trigger that raises an error (SQLite also treats it like
            // CHECK).
            "23502" | "23503" | "23001" | "23514" | "54000" | "P0001" => Self::Invalid,
            "40001" | "40P01" => Self::Conflict,
            // Canceled by a timeout or an operator; a lock; a server that
            // became a replica.
            "57014" | "57P01" | "57P02" | "57P03" | "55P03" | "25006" => Self::Unavailable,
            _ => match code.get(..2) {
                // Classes: data; connection, resources, system.
                Some("22") => Self::Invalid,
                Some("08" | "53" | "58") => Self::Unavailable,
                _ => Self::Failed,
            },
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
            ("23001", Class::Invalid),
            ("22P02", Class::Invalid),
            ("22003", Class::Invalid),
            ("54000", Class::Invalid),
            ("54001", Class::Failed),
            ("P0001", Class::Invalid),
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
