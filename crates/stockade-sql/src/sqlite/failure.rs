//! Classifies rusqlite errors.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;
use rusqlite::ffi;
use stockade_errors::BoxError;

use crate::SqlError;

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        classify(&Class::of(&error), error)
    }
}

impl SqlError {
    /// Classifies an error that several writes share.
    pub(super) fn from_shared(error: &Arc<rusqlite::Error>) -> Self {
        classify(&Class::of(error), Arc::clone(error))
    }

    /// Prefixes the message with the path of the file.
    pub(super) fn at_path(mut self, path: &Path) -> Self {
        match &mut self {
            Self::Taken { source, .. }
            | Self::Invalid { source, .. }
            | Self::Unavailable { source, .. }
            | Self::Conflict(source)
            | Self::Failed(source) => {
                let inner = std::mem::replace(source, "".into());
                *source = Box::new(AtPath { path: path.to_owned(), source: inner });
            }
        }
        self
    }
}

/// An error with the path of the file.
#[derive(Debug)]
struct AtPath {
    path: PathBuf,
    source: BoxError,
}

impl fmt::Display for AtPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for AtPath {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}

enum Class {
    Taken(String),
    Invalid(Option<String>),
    Unavailable,
    Failed,
}

impl Class {
    fn of(error: &rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(cause, text) = error else {
            return Self::Failed;
        };
        let subject = || {
            let text = text.as_deref()?;
            text.split_once("constraint failed: ").map(|(_, subject)| subject)
        };
        match cause.extended_code {
            ffi::SQLITE_CONSTRAINT_UNIQUE
            | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
            | ffi::SQLITE_CONSTRAINT_ROWID => {
                // SQLite always names the columns or the index.
                Self::Taken(subject().unwrap_or("unknown").to_owned())
            }
            // `table.column`
            ffi::SQLITE_CONSTRAINT_NOTNULL => {
                let column = subject().and_then(|subject| subject.rsplit_once('.'));
                Self::Invalid(column.map(|(_, column)| column.to_owned()))
            }
            ffi::SQLITE_CONSTRAINT_CHECK
            | ffi::SQLITE_CONSTRAINT_DATATYPE
            | ffi::SQLITE_CONSTRAINT_FOREIGNKEY
            | ffi::SQLITE_CONSTRAINT_TRIGGER
            | ffi::SQLITE_MISMATCH
            | ffi::SQLITE_TOOBIG => Self::Invalid(None),
            _ => match cause.code {
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OperationInterrupted
                // Another write ended the transaction.
                | ErrorCode::OperationAborted
                | ErrorCode::OutOfMemory
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed => Self::Unavailable,
                // The file or its folder has changed. The plain code is a bug
                // in the program: it writes on a read connection.
                ErrorCode::ReadOnly if cause.extended_code != ffi::SQLITE_READONLY => {
                    Self::Unavailable
                }
                _ => Self::Failed,
            },
        }
    }
}

fn classify(class: &Class, source: impl Into<BoxError>) -> SqlError {
    let source = source.into();
    match class {
        Class::Taken(constraint) => SqlError::Taken { constraint: constraint.clone(), source },
        Class::Invalid(column) => SqlError::Invalid { column: column.clone(), source },
        Class::Unavailable => SqlError::unavailable(source),
        Class::Failed => SqlError::Failed(source),
    }
}

/// Creates the error for all writes of a transaction that ended early.
pub(super) fn transaction_ended() -> rusqlite::Error {
    let text = "the transaction ended while one of its writes ran";
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ABORT), Some(text.to_owned()))
}
