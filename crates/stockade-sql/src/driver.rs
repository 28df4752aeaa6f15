//! The database interface that a store needs.

use std::sync::Arc;

use stockade_core::BoxFuture;

use crate::SqlError;

/// A database that runs the statements of a store.
///
/// A statement has one parameter, a JSON text. Each result row is a JSON text
/// and a number. So a driver does not convert values, and it does not need to
/// know column types.
pub trait Driver: Send + Sync + 'static {
    /// Returns the SQL dialect that [`run`](Self::run) accepts.
    fn dialect(&self) -> Dialect;

    /// Runs one statement in a separate transaction and returns its rows.
    ///
    /// If the statement [writes](Statement::writes), return its rows only after
    /// the commit.
    ///
    /// # Errors
    /// Returns the class that matches the database's error, or
    /// [`SqlError::Failed`] if no class matches.
    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>>;
}

/// A shared driver, which can be a `dyn Driver`. A program that selects its
/// database at startup can thus use one store type.
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
    /// PostgreSQL 12 or later. The parameter is `$1` of type `jsonb`.
    Postgres,
    /// SQLite 3.38 or later. The parameter is `?1` of type `TEXT`.
    Sqlite,
}

/// A statement with its parameter.
///
/// The SQL text never contains client values; they are in the parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Statement {
    /// The SQL text, with one parameter.
    pub sql: Arc<str>,
    /// The parameter, a JSON text.
    pub parameter: String,
    /// True if the statement changes rows.
    pub writes: bool,
}

impl Statement {
    /// Creates a statement that reads.
    pub fn reading(sql: impl Into<Arc<str>>, parameter: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameter: parameter.into(), writes: false }
    }

    /// Creates a statement that writes.
    pub fn writing(sql: impl Into<Arc<str>>, parameter: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameter: parameter.into(), writes: true }
    }
}

/// A result row: the two columns of a statement, in this order.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The first column, a JSON text.
    pub json: String,
    /// The second column: the version of the row or a count.
    pub number: i64,
}

impl Row {
    /// Creates a row.
    pub fn new(json: impl Into<String>, number: i64) -> Self {
        Self { json: json.into(), number }
    }
}
