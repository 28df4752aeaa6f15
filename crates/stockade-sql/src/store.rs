//! [`SqlStore`]: the items of a resource in a table.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use stockade_errors::{ConfigError, FieldError};
use stockade_rest::{
    Ask, Draft, Entity, Expected, Op, Page, Scope, Store, StoreDoc, StoreError, Stored, Version,
};

use crate::plan::{Plan, has_order};
use crate::table::{Kind, Table};
use crate::{Driver, Row, SqlError, Statement};

/// The items of a type in a table of a database. A clone is the same store.
///
/// The table has a column for each field, with its name in JSON, and `version`, an
/// integer that is not null and begins with 1. Further columns are left alone. An
/// order or a filter is as fast as the index that the table has for it.
///
/// - A field that may be null is a column that may be null, and no other is.
/// - Texts are compared by code points. In PostgreSQL an index serves such an order
///   if its column has the collation `"C"`.
/// - Clients cannot sort by a field that may be null, and neither sort nor filter by
///   lists, objects and fields of several types.
/// - A row whose draft has an id begins with a version made of the time, so that an
///   id that comes back has no old version.
pub struct SqlStore<T, D> {
    driver: D,
    table: Arc<Table>,
    of: PhantomData<fn() -> T>,
}

/// The number of times that a statement is tried when others are in the way.
const TRIES: usize = 4;

impl<T: Entity, D: Driver> SqlStore<T, D> {
    /// Opens the store in a table, which is compared with the type.
    ///
    /// The name is taken as it is, with upper and lower case; in PostgreSQL it may be
    /// that of a schema and a table, with a dot between them.
    ///
    /// # Errors
    /// Fails with all differences between the table and the type: columns that are
    /// missing, that do not keep each value of their field, or that a new row would
    /// lack; and if the database cannot be asked.
    pub async fn open(driver: D, table: &str) -> Result<Self, ConfigError> {
        let dialect = driver.dialect();
        let description = driver.run(Table::description(dialect, table)).await;
        let table = Arc::new(Table::of::<T>(dialect, table, description)?);
        Ok(Self { driver, table, of: PhantomData })
    }

    /// As [`open`](Self::open), by a function that runs a statement.
    #[cfg(feature = "sqlite")]
    pub(crate) fn check(
        driver: D,
        table: &str,
        run: impl FnOnce(Statement) -> Result<Vec<Row>, SqlError>,
    ) -> Result<Self, ConfigError> {
        let dialect = driver.dialect();
        let description = run(Table::description(dialect, table));
        let table = Arc::new(Table::of::<T>(dialect, table, description)?);
        Ok(Self { driver, table, of: PhantomData })
    }

    /// Runs a statement, again if other transactions were in the way.
    async fn run(&self, statement: Result<Statement, SqlError>) -> Result<Vec<Row>, SqlError> {
        let statement = statement?;
        for _ in 1..TRIES {
            match self.driver.run(statement.clone()).await {
                Err(SqlError::Conflict(_)) => {}
                outcome => return outcome,
            }
        }
        self.driver.run(statement).await
    }

    fn failure(&self, error: SqlError) -> StoreError {
        match error {
            SqlError::Taken { constraint, .. } => {
                StoreError::taken(self.table.field_of_constraint(&constraint, |_| true))
            }
            SqlError::Invalid { column, source } => {
                // Further lines of PostgreSQL quote the row.
                let text = source.to_string();
                let reason = text.lines().next().unwrap_or_default();
                log::info!("{}: the database refused a value: {reason}", self.table.name);
                let column = column.filter(|column| self.table.column(column).is_some());
                let error = |column| FieldError::new(column, "Value is not allowed", "database");
                StoreError::Invalid(column.map(error).into_iter().collect())
            }
            SqlError::Conflict(source) => StoreError::busy(SqlError::RETRY_AFTER, source),
            SqlError::Unavailable { retry_after, source } => StoreError::busy(retry_after, source),
            SqlError::Failed(source) => StoreError::Failed(source),
        }
    }

    /// As [`failure`](Self::failure), of a statement that writes a draft.
    fn failure_of(&self, error: SqlError, draft: &Draft<T>, scope: &Scope) -> StoreError {
        let SqlError::Taken { constraint, .. } = error else { return self.failure(error) };
        // A client did not choose the values of its scope, and cannot change them.
        let is_of_scope = |field: &str| scope.conditions().iter().any(|(name, _)| name == field);
        let is_chosen = |field: &str| draft.has_sent(field) && !is_of_scope(field);
        StoreError::taken(self.table.field_of_constraint(&constraint, is_chosen))
    }

    /// Returns the reason why no row was written.
    async fn refusal(&self, id: &T::Id, expected: Expected, scope: &Scope) -> StoreError {
        match (expected, self.get(id, scope).await) {
            (_, Err(error)) => error,
            (Expected::Version(_), Ok(Some(_))) => StoreError::Changed,
            // Gone, or not there yet when it was to be written.
            (_, Ok(_)) => StoreError::Missing,
        }
    }

    /// Returns true if an id is none that the database could have.
    async fn is_no_id(&self, id: &T::Id) -> bool {
        let Ok(id) = serde_json::to_value(id) else { return true };
        let statement = Plan::get(&self.table, &id, &Scope::all());
        matches!(self.run(statement).await, Err(SqlError::Invalid { .. }))
    }
}

impl<T: Entity, D: Driver> Store<T> for SqlStore<T, D> {
    async fn list(&self, ask: &Ask) -> Result<Page<T>, StoreError> {
        let rows = self.run(Plan::list(&self.table, ask)).await;
        let mut rows = rows.map_err(|error| self.failure(error))?;
        let found = rows.len();
        rows.truncate(ask.limit);
        rows.truncate(within(&rows, ask.max_bytes));
        let more = rows.len() < found;
        let total = match ask.count {
            Some(most) => {
                let counted = self.run(Plan::count(&self.table, ask, most)).await;
                Some(number(counted.map_err(|error| self.failure(error))?.first())?)
            }
            None => None,
        };
        let items = rows.iter().map(stored).collect::<Result<_, _>>()?;
        Ok(Page { items, more, total })
    }

    async fn get(&self, id: &T::Id, scope: &Scope) -> Result<Option<Stored<T>>, StoreError> {
        let rows = match self.run(Plan::get(&self.table, &json_of(id)?, scope)).await {
            Ok(rows) => rows,
            // No row has an id or a scope that its column cannot have.
            Err(SqlError::Invalid { .. }) => return Ok(None),
            Err(error) => return Err(self.failure(error)),
        };
        rows.first().map(stored).transpose()
    }

    async fn create(&self, draft: Draft<T>) -> Result<Stored<T>, StoreError> {
        let values = draft.values();
        let misfits = self.table.misfits(values);
        if !misfits.is_empty() {
            return Err(StoreError::Invalid(misfits));
        }
        let plan = Plan::create(&self.table, values.clone(), microseconds());
        let rows = self.run(plan).await;
        one(&rows.map_err(|error| self.failure_of(error, &draft, &Scope::all()))?)
    }

    async fn replace(
        &self,
        id: &T::Id,
        draft: Draft<T>,
        expected: Expected,
        scope: &Scope,
    ) -> Result<Stored<T>, StoreError> {
        let misfits = self.table.misfits(draft.values());
        if !misfits.is_empty() {
            return Err(StoreError::Invalid(misfits));
        }
        let fields: Vec<String> = draft.fields().map(str::to_owned).collect();
        let values = draft.values().clone();
        let plan = Plan::replace(&self.table, &json_of(id)?, values, &fields, expected, scope);
        match self.run(plan).await {
            Ok(rows) if rows.is_empty() => Err(self.refusal(id, expected, scope).await),
            Ok(rows) => one(&rows),
            Err(SqlError::Invalid { .. }) if self.is_no_id(id).await => Err(StoreError::Missing),
            Err(error) => Err(self.failure_of(error, &draft, scope)),
        }
    }

    async fn delete(
        &self,
        id: &T::Id,
        expected: Expected,
        scope: &Scope,
    ) -> Result<(), StoreError> {
        let plan = Plan::delete(&self.table, &json_of(id)?, expected, scope);
        match self.run(plan).await {
            Ok(rows) if rows.is_empty() => Err(self.refusal(id, expected, scope).await),
            Ok(_) => Ok(()),
            Err(SqlError::Invalid { .. }) if self.is_no_id(id).await => Err(StoreError::Missing),
            // A statement that deletes gives no value that a rule could refuse.
            Err(SqlError::Invalid { .. }) => Err(StoreError::Referenced),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn describe(&self, doc: &mut StoreDoc) {
        let mut mistakes = Vec::new();
        for (field, ops) in doc.filters() {
            match self.table.column(field) {
                None => mistakes.push(format!("there is no column {field}")),
                Some(column) => mistakes.extend(ops.iter().filter_map(|op| {
                    let can = match op {
                        Op::Null => true,
                        Op::Prefix => column.is_text,
                        _ => has_order(column, self.table.dialect),
                    };
                    (!can).then(|| format!("the column {field} cannot be compared by {op}"))
                })),
            }
        }
        for field in doc.sorts() {
            match self.table.column(field) {
                None => mistakes.push(format!("there is no column {field}")),
                Some(column) if column.field.is_nullable => {
                    mistakes.push(format!("{field} may be null, which has no place in an order"));
                }
                Some(column) if !has_order(column, self.table.dialect) => {
                    mistakes.push(format!("the column {field} has no order"));
                }
                Some(_) => {}
            }
        }
        mistakes.into_iter().for_each(|mistake| doc.mistake(mistake));
        for column in self.table.columns.iter().filter(|it| it.field.kind == Kind::Integer) {
            let (least, greatest) = column.range;
            doc.keeps_integers(&column.field.name, least..=greatest);
        }
    }
}

impl<T, D: Clone> Clone for SqlStore<T, D> {
    fn clone(&self) -> Self {
        Self { driver: self.driver.clone(), table: Arc::clone(&self.table), of: PhantomData }
    }
}

impl<T, D> fmt::Debug for SqlStore<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlStore").field("table", &self.table.name).finish_non_exhaustive()
    }
}

/// Returns the number of rows up to the one that reaches this size, in bytes.
fn within(rows: &[Row], most: usize) -> usize {
    let mut size: usize = 0;
    let taken = rows.iter().take_while(|row| {
        let is_below = size < most;
        size = size.saturating_add(row.json.len());
        is_below
    });
    taken.count()
}

/// Reads a row. Its text goes straight into the type, so that no digit is lost on the
/// way; floats are read exactly, as the last key of a page must be.
fn stored<T: Entity>(row: &Row) -> Result<Stored<T>, StoreError> {
    let value = serde_json::from_str(&row.json).map_err(StoreError::failed)?;
    let version = u64::try_from(row.number).map_err(StoreError::failed)?;
    Ok(Stored::new(value, Version(version)))
}

/// Reads the row that a write gave back.
fn one<T: Entity>(rows: &[Row]) -> Result<Stored<T>, StoreError> {
    let row = rows.first();
    stored(row.ok_or_else(|| StoreError::failed("a statement that writes gave no row back"))?)
}

fn number(row: Option<&Row>) -> Result<u64, StoreError> {
    let row = row.ok_or_else(|| StoreError::failed("a statement that counts gave no row"))?;
    u64::try_from(row.number).map_err(StoreError::failed)
}

fn json_of(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(StoreError::failed)
}

/// Returns the time as microseconds since 1970.
fn microseconds() -> u64 {
    // A clock before 1970 makes the versions of a table that count from 1.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(1).max(1)
}
