//! An in-memory fake of `diesel` on PostgreSQL: tables with rows, and blocking
//! queries.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade::serde_json::{self, Value};

/// A connection. Clones connect to the same database.
#[derive(Clone, Default)]
pub struct PgConnection {
    tables: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

impl PgConnection {
    /// Creates the missing tables.
    ///
    /// # Errors
    /// Fails if a migration cannot be parsed.
    pub fn run_pending_migrations(&mut self, migrations: Migrations) -> QueryResult<()> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for migration in migrations.0 {
            let name = migration.strip_prefix("CREATE TABLE ").and_then(|it| it.split(' ').next());
            let name = name.ok_or_else(|| Error(format!("syntax error in {migration:?}")))?;
            tables.entry(name.to_owned()).or_default();
        }
        Ok(())
    }
}

/// Statements that create tables, embedded into the program.
#[derive(Clone, Copy)]
pub struct Migrations(pub &'static [&'static str]);

/// A table with rows of type `R` and a serial `id`.
pub struct Table<R> {
    name: &'static str,
    row: PhantomData<fn() -> R>,
}

impl<R> Table<R> {
    /// Creates a table with this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, row: PhantomData }
    }

    /// Creates a query for all rows.
    #[must_use]
    pub fn select(&self) -> Select<R> {
        Select(self.name, PhantomData)
    }

    /// Creates a query that adds a row with these values.
    pub fn insert<V: Serialize>(&self, values: V) -> Insert<V, R> {
        Insert(self.name, values, PhantomData)
    }
}

/// The query of [`Table::select`].
pub struct Select<R>(&'static str, PhantomData<fn() -> R>);

/// The query of [`Table::insert`].
pub struct Insert<V, R>(&'static str, V, PhantomData<fn() -> R>);

/// A query with a result.
pub trait Query: Sized {
    /// The type of the result.
    type Output;

    /// Runs the query.
    ///
    /// # Errors
    /// Fails if the table does not exist, or if a row has other columns.
    fn get_result(self, connection: &mut PgConnection) -> QueryResult<Self::Output>;
}

impl<R: DeserializeOwned> Query for Select<R> {
    type Output = Vec<R>;

    fn get_result(self, connection: &mut PgConnection) -> QueryResult<Vec<R>> {
        let tables = connection.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = tables.get(self.0).ok_or_else(|| no_table(self.0))?;
        rows.iter().map(|row| Ok(R::deserialize(row)?)).collect()
    }
}

impl<V: Serialize, R: DeserializeOwned> Query for Insert<V, R> {
    type Output = R;

    fn get_result(self, connection: &mut PgConnection) -> QueryResult<R> {
        let mut tables = connection.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = tables.get_mut(self.0).ok_or_else(|| no_table(self.0))?;
        let mut row = serde_json::to_value(self.1)?;
        row["id"] = (rows.len() + 1).into();
        let result = R::deserialize(&row)?;
        rows.push(row);
        Ok(result)
    }
}

fn no_table(name: &str) -> Error {
    Error(format!("relation {name:?} does not exist"))
}

/// The result of a query.
pub type QueryResult<T> = Result<T, Error>;

/// The error of a query.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}
