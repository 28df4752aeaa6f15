//! The items of a resource in a table.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use stockade_errors::{ConfigError, FieldError};
use stockade_rest::__internal::Canonical;
use stockade_rest::{
    Entity, ListQuery, NewRow, Op, Page, RowFilter, Store, StoreDoc, StoreError, Version,
    VersionCheck, Versioned,
};

use crate::plan::{Plan, has_order};
use crate::table::{Kind, Table};
use crate::unreadable::Unreadable;
use crate::{Dialect, Driver, Row, SqlError, Statement};

/// The items of a type in a database table. Clones share the store.
///
/// The table has a column for each field, with the field's JSON name, and
/// `version`, a non-null integer that defaults to 1. Other columns are ignored.
/// Sorting and filtering are as fast as the table's indexes allow.
///
/// - A column is nullable if and only if its field is nullable.
/// - Texts are compared by code points. In PostgreSQL an index supports this
///   order if its column has the collation `"C"`.
/// - Clients cannot sort by a nullable field. They can neither sort nor filter
///   by lists, objects and fields of several types.
/// - UUIDs, addresses, times and other values with several spellings are stored
///   and compared in their canonical form. Times are in UTC, as
///   `2026-11-23T09:00:00.5+00:00`. Rows with another spelling, written by
///   another program, do not match filters, ids and unique values. The book
///   explains how to repair them (`book/src/appendix/canonical-values.md`).
/// - If a draft contains an id, the version of its row starts with the current
///   time. An id that is used again thus never has an old version.
pub struct SqlStore<T, D> {
    driver: D,
    table: Arc<Table>,
    canonical: Arc<Canonical>,
    skips_unreadable: bool,
    of: PhantomData<fn() -> T>,
}

/// The maximum number of rows that a page reads to find a readable one.
const MOST_SKIPPED: usize = 10_000;

/// The maximum number of attempts when transactions conflict.
const TRIES: usize = 4;

impl<T: Entity, D: Driver> SqlStore<T, D> {
    /// Opens the store for a table and compares the table with the type.
    ///
    /// The name is case-sensitive. In PostgreSQL it can be `schema.table`.
    ///
    /// # Errors
    /// Returns an error that lists all differences between the table and the
    /// type: missing columns, columns that cannot store each value of their
    /// field, and required columns without a field. Also returns an error if
    /// the database cannot be queried.
    pub async fn open(driver: D, table: &str) -> Result<Self, ConfigError> {
        let dialect = driver.dialect();
        let description = driver.run(Table::description(dialect, table)).await;
        Ok(Self::with_table(driver, Table::of::<T>(dialect, table, description)?))
    }

    /// Like [`open`](Self::open), with a function that runs a statement.
    #[cfg(feature = "sqlite")]
    pub(crate) fn check(
        driver: D,
        table: &str,
        run: impl FnOnce(Statement) -> Result<Vec<Row>, SqlError>,
    ) -> Result<Self, ConfigError> {
        let dialect = driver.dialect();
        let description = run(Table::description(dialect, table));
        Ok(Self::with_table(driver, Table::of::<T>(dialect, table, description)?))
    }

    fn with_table(driver: D, table: Table) -> Self {
        let canonical = Arc::new(Canonical::of::<T>());
        let table = Arc::new(table);
        Self { driver, table, canonical, skips_unreadable: false, of: PhantomData }
    }

    /// Sets whether lists skip unreadable rows instead of failing with a 500.
    /// Default: false.
    ///
    /// A row can become unreadable after a change of the type, or if another
    /// program wrote it. In both cases, a log line at level `error` contains
    /// the row's id and the column name. A list that skips rows reports their
    /// number in `skipped`, next to `items`. They count in `X-Total-Count`. A
    /// request for one unreadable item is a 500.
    #[must_use]
    pub fn skip_unreadable(mut self, skips: bool) -> Self {
        self.skips_unreadable = skips;
        self
    }

    /// Runs a statement and retries on conflicts with other transactions.
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
                // The further lines of a PostgreSQL error quote the row.
                let text = source.to_string();
                let reason = text.lines().next().unwrap_or_default();
                log::info!("{}: the database rejected a value: {reason}", self.table.name);
                let column = column.filter(|column| self.table.column(column).is_some());
                let error = |column| {
                    let error = FieldError::new(column, "Value is not allowed", "database");
                    error.with_text_id("false")
                };
                StoreError::Invalid(column.map(error).into_iter().collect())
            }
            SqlError::Conflict(source) => StoreError::busy(SqlError::RETRY_AFTER, source),
            SqlError::Unavailable { retry_after, source } => StoreError::busy(retry_after, source),
            SqlError::Failed(source) => StoreError::Failed(source),
        }
    }

    /// Like [`failure`](Self::failure), for a statement that writes a draft.
    fn failure_of(&self, error: SqlError, draft: &NewRow<T>, scope: &RowFilter) -> StoreError {
        let SqlError::Taken { constraint, .. } = error else { return self.failure(error) };
        // A client did not choose the values of its scope and cannot change
        // them.
        let is_of_scope = |field: &str| scope.conditions().iter().any(|(name, _)| name == field);
        let is_chosen = |field: &str| draft.has_sent(field) && !is_of_scope(field);
        StoreError::taken(self.table.field_of_constraint(&constraint, is_chosen))
    }

    /// Like [`failure`](Self::failure), for a statement about one row, which
    /// may be the cause.
    async fn failure_at(&self, error: SqlError, id: &Value) -> StoreError {
        if self.may_be_unreadable(&error)
            && let Ok(rows) = self.run(Plan::get_checked(&self.table, id)).await
            && let Some(Err(error)) = rows.first().map(|row| self.stored(row))
        {
            return error;
        }
        self.failure(error)
    }

    /// Returns true if a row's value may be the cause of an error. In SQLite
    /// the whole statement fails if a value cannot be written as JSON.
    fn may_be_unreadable(&self, error: &SqlError) -> bool {
        self.table.dialect == Dialect::Sqlite && matches!(error, SqlError::Failed(_))
    }

    /// Returns the rows of a page, with one extra row.
    async fn rows(&self, query: &ListQuery) -> Result<Vec<Row>, StoreError> {
        match self.run(Plan::list(&self.table, query)).await {
            Err(error) if self.may_be_unreadable(&error) => {
                let checked = self.run(Plan::list_checked(&self.table, query)).await;
                checked.map_err(|_| self.failure(error))
            }
            rows => rows.map_err(|error| self.failure(error)),
        }
    }

    /// Returns a page. It has at least one item unless no further row is
    /// readable, so the next page has a start position.
    async fn page(&self, query: &ListQuery) -> Result<Page<T>, StoreError> {
        let mut most = query.limit;
        let mut rows = self.rows(query).await?;
        loop {
            let page = self.page_of(query, &rows, most)?;
            if !page.items.is_empty() || page.skipped == 0 || !page.more {
                return Ok(page);
            }
            if most >= MOST_SKIPPED {
                let name = &self.table.name;
                let message = format!("{name}: {most} consecutive rows cannot be read");
                return Err(StoreError::failed(message));
            }
            most = most.saturating_mul(8).min(MOST_SKIPPED);
            rows = self.rows(&ListQuery { limit: most, ..query.clone() }).await?;
        }
    }

    /// Reads the first `most` rows up to the limits of a page.
    fn page_of(&self, query: &ListQuery, rows: &[Row], most: usize) -> Result<Page<T>, StoreError> {
        let mut items = Vec::with_capacity(rows.len().min(query.limit));
        let (mut size, mut taken, mut skipped) = (0_usize, 0, 0);
        for row in rows.iter().take(most) {
            if items.len() == query.limit || size >= query.max_bytes {
                break;
            }
            taken += 1;
            match self.stored(row) {
                Ok(item) => {
                    size = size.saturating_add(row.json.len());
                    items.push(item);
                }
                Err(StoreError::Failed(error)) if self.skips_unreadable => {
                    log::error!(target: "stockade", "{error}");
                    skipped += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Page { items, more: taken < rows.len(), total: None, skipped })
    }

    /// Deserializes a row. The type reads the text directly, so no digits are
    /// lost. Floats are exact, which the last key of a page requires.
    fn stored(&self, row: &Row) -> Result<Versioned<T>, StoreError> {
        let value = serde_json::from_str(&row.json).map_err(|error| {
            StoreError::failed(Unreadable::of::<T>(&self.table.name, row, error))
        })?;
        let version = u64::try_from(row.number).map_err(StoreError::failed)?;
        Ok(Versioned::new(value, Version(version)))
    }

    /// Deserializes the row that a write returned.
    fn one(&self, rows: &[Row]) -> Result<Versioned<T>, StoreError> {
        let row = rows.first();
        let missing = || StoreError::failed("a write statement returned no row");
        self.stored(row.ok_or_else(missing)?)
    }

    /// Returns the canonical values of a draft, or an error if the columns
    /// cannot store them.
    fn entering(&self, draft: &NewRow<T>) -> Result<Map<String, Value>, StoreError> {
        let mut values = draft.values().clone();
        let mut misfits = self.canonical.misfits(&values);
        self.canonical.change(&mut values);
        misfits.extend(self.table.misfits(&values));
        if misfits.is_empty() { Ok(values) } else { Err(StoreError::Invalid(misfits)) }
    }

    /// Returns the canonical JSON of an id.
    fn id_of(&self, id: &T::Id) -> Result<Value, StoreError> {
        let id = serde_json::to_value(id).map_err(StoreError::failed)?;
        Ok(self.canonical.value(T::ID, id))
    }

    /// Returns the reason why no row was written.
    async fn refusal(&self, id: &T::Id, expected: VersionCheck, scope: &RowFilter) -> StoreError {
        match (expected, self.get(id, scope).await) {
            (_, Err(error)) => error,
            (VersionCheck::Version(_), Ok(Some(_))) => StoreError::Changed,
            // The row is gone, or it did not exist yet at the time of the
            // write.
            (_, Ok(_)) => StoreError::Missing,
        }
    }

    /// Returns true if the database cannot store such an id.
    async fn is_no_id(&self, id: &T::Id) -> bool {
        let Ok(id) = self.id_of(id) else { return true };
        let statement = Plan::get(&self.table, &id, &RowFilter::all());
        matches!(self.run(statement).await, Err(SqlError::Invalid { .. }))
    }
}

impl<T: Entity, D: Driver> Store<T> for SqlStore<T, D> {
    async fn list(&self, query: &ListQuery) -> Result<Page<T>, StoreError> {
        let misfits = self.canonical.misfits_of(query);
        if !misfits.is_empty() {
            return Err(StoreError::Invalid(misfits));
        }
        let query = &*self.canonical.query(query);
        let mut page = self.page(query).await?;
        if let Some(most) = query.count {
            let counted = self.run(Plan::count(&self.table, query, most)).await;
            page.total = Some(number(counted.map_err(|error| self.failure(error))?.first())?);
        }
        Ok(page)
    }

    async fn get(&self, id: &T::Id, scope: &RowFilter) -> Result<Option<Versioned<T>>, StoreError> {
        let (id, scope) = (self.id_of(id)?, self.canonical.scope(scope));
        let rows = match self.run(Plan::get(&self.table, &id, &scope)).await {
            Ok(rows) => rows,
            // If the column cannot store the id or scope, no row has it.
            Err(SqlError::Invalid { .. }) => return Ok(None),
            Err(error) => return Err(self.failure_at(error, &id).await),
        };
        rows.first().map(|row| self.stored(row)).transpose()
    }

    async fn create(&self, draft: NewRow<T>) -> Result<Versioned<T>, StoreError> {
        let values = self.entering(&draft)?;
        let plan = Plan::create(&self.table, values, microseconds());
        let rows = self.run(plan).await;
        self.one(&rows.map_err(|error| self.failure_of(error, &draft, &RowFilter::all()))?)
    }

    async fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Versioned<T>, StoreError> {
        let values = self.entering(&draft)?;
        let fields: Vec<String> = draft.fields().map(str::to_owned).collect();
        let (key, of_user) = (self.id_of(id)?, self.canonical.scope(scope));
        let plan = Plan::replace(&self.table, &key, values, &fields, expected, &of_user);
        match self.run(plan).await {
            Ok(rows) if rows.is_empty() => Err(self.refusal(id, expected, scope).await),
            Ok(rows) => self.one(&rows),
            Err(SqlError::Invalid { .. }) if self.is_no_id(id).await => Err(StoreError::Missing),
            Err(error @ SqlError::Failed(_)) => Err(self.failure_at(error, &key).await),
            Err(error) => Err(self.failure_of(error, &draft, scope)),
        }
    }

    async fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<(), StoreError> {
        let (key, of_user) = (self.id_of(id)?, self.canonical.scope(scope));
        let plan = Plan::delete(&self.table, &key, expected, &of_user);
        match self.run(plan).await {
            Ok(rows) if rows.is_empty() => Err(self.refusal(id, expected, scope).await),
            Ok(_) => Ok(()),
            Err(SqlError::Invalid { .. }) if self.is_no_id(id).await => Err(StoreError::Missing),
            // A delete does not pass values that a rule could reject.
            Err(SqlError::Invalid { .. }) => Err(StoreError::Referenced),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn describe(&self, doc: &mut StoreDoc) {
        let mut mistakes = Vec::new();
        for (field, ops) in doc.filters() {
            match self.table.column(field) {
                None => mistakes.push(format!("the column {field} does not exist")),
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
                None => mistakes.push(format!("the column {field} does not exist")),
                Some(column) if column.field.is_nullable => {
                    mistakes.push(format!("{field} can be null, and null cannot be sorted"));
                }
                Some(column) if !has_order(column, self.table.dialect) => {
                    mistakes.push(format!("the column {field} cannot be sorted"));
                }
                Some(_) => {}
            }
        }
        mistakes.into_iter().for_each(|mistake| doc.issue(mistake));
        if self.skips_unreadable {
            doc.skips_rows();
        }
        for column in self.table.columns.iter().filter(|it| it.field.kind == Kind::Integer) {
            let (least, greatest) = column.range;
            doc.keeps_integers(&column.field.name, least..=greatest);
        }
    }
}

impl<T, D: Clone> Clone for SqlStore<T, D> {
    fn clone(&self) -> Self {
        Self {
            driver: self.driver.clone(),
            table: Arc::clone(&self.table),
            canonical: Arc::clone(&self.canonical),
            skips_unreadable: self.skips_unreadable,
            of: PhantomData,
        }
    }
}

impl<T, D> fmt::Debug for SqlStore<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlStore").field("table", &self.table.name).finish_non_exhaustive()
    }
}

fn number(row: Option<&Row>) -> Result<u64, StoreError> {
    let row = row.ok_or_else(|| StoreError::failed("a count statement returned no row"))?;
    u64::try_from(row.number).map_err(StoreError::failed)
}

/// Returns the current time in microseconds since 1970.
fn microseconds() -> u64 {
    // If the clock is before 1970, versions start at 1.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(1).max(1)
}
