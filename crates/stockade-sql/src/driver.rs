//! [`Driver`]: the part of a database that a store needs.

use std::sync::Arc;

use stockade_core::BoxFuture;

use crate::SqlError;

/// A database that runs statements of a store.
///
/// A statement has one parameter, a text of JSON; it gives rows of a text of JSON
/// and a number. So a driver converts nothing, and no types of columns are known
/// here.
pub trait Driver: Send + Sync + 'static {
    /// Returns the dialect of the statements that [`run`](Self::run) takes.
    fn dialect(&self) -> Dialect;

    /// Runs one statement as a transaction of its own, and returns its rows.
    ///
    /// The rows of a statement that [writes](Statement::writes) may be returned
    /// only when they are committed.
    ///
    /// # Errors
    /// Fails with the class of the error that the database reports. An error that
    /// no class fits is [`SqlError::Failed`].
    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>>;
}

/// A shared driver, which may be a `dyn Driver`: so a program that chooses its
/// database when it starts has one type of store.
impl<D: Driver + ?Sized> Driver for Arc<D> {
    fn dialect(&self) -> Dialect {
        D::dialect(self)
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        D::run(self, statement)
    }
}

/// A dialect of SQL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// PostgreSQL from version 12. The parameter is `$1`, of the type `jsonb`.
    Postgres,
    /// SQLite from version 3.38. The parameter is `?1`, of the type `TEXT`.
    Sqlite,
}

/// A statement with its parameter.
///
/// Its text has no value that a client sent: values are in the parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Statement {
    /// The text, with one parameter.
    pub sql: Arc<str>,
    /// The parameter: a text of JSON.
    pub parameter: String,
    /// True for a statement that changes rows.
    pub writes: bool,
}

impl Statement {
    /// Makes a statement that reads.
    pub fn reading(sql: impl Into<Arc<str>>, parameter: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameter: parameter.into(), writes: false }
    }

    /// Makes a statement that writes.
    pub fn writing(sql: impl Into<Arc<str>>, parameter: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameter: parameter.into(), writes: true }
    }
}

/// A row that a statement gave: the columns of its result, in this order.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The first column, a text of JSON.
    pub json: String,
    /// The second column, the version of the row or a count.
    pub number: i64,
}

impl Row {
    /// Makes a row.
    pub fn new(json: impl Into<String>, number: i64) -> Self {
        Self { json: json.into(), number }
    }
}
