//! Translates store operations to statements with pure functions.
//!
//! Names come from the schema of the type and are quoted. Values are only in
//! the parameter, which is one JSON object:
//!
//! | member | value |
//! |---|---|
//! | `id` | the id of a row |
//! | `scope` | the values of the scope, in order |
//! | `filters` | a list of values for each filter |
//! | `ends` | for each value of a prefix filter, the first text after all matching texts |
//! | `after` | the keys after which a page starts |
//! | `row` | the fields to write |
//! | `version` | the expected version, or the initial version of a row |
//!
//! In PostgreSQL, each column value is in an object with the column's name.
//! `jsonb_populate_record` converts it to the column's type.

mod condition;
mod value;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use stockade_rest::{Direction, ListQuery, RowFilter, Sort, VersionCheck};

use crate::table::{Column, Kind, Table, VERSION, quoted};
use crate::{Dialect, SqlError, Statement};
use value::{Place, checked_item, item, scalar};

/// Builds the statements for a table.
pub(crate) struct Plan<'t> {
    table: &'t Table,
    parameter: Map<String, Value>,
}

impl<'t> Plan<'t> {
    fn new(table: &'t Table) -> Self {
        Self { table, parameter: Map::new() }
    }

    /// Returns the statement for a page, with one extra row.
    pub(crate) fn list(table: &'t Table, query: &ListQuery) -> Result<Statement, SqlError> {
        Self::page(table, query, &item(table))
    }

    /// Like [`list`](Self::list), but with a marked row for each row that
    /// SQLite cannot write as JSON.
    pub(crate) fn list_checked(table: &'t Table, query: &ListQuery) -> Result<Statement, SqlError> {
        Self::page(table, query, &checked_item(table))
    }

    fn page(table: &'t Table, query: &ListQuery, item: &str) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let mut conditions = plan.of_query(query)?;
        if let Some(keys) = &query.after {
            conditions.push(plan.after(keys, &query.sorts)?);
        }
        let keys = query.sorts.iter().map(|sort| plan.key_of_order(sort));
        let order = keys.collect::<Result<Vec<_>, _>>()?.join(", ");
        let conditions = joined(&conditions);
        let name = &table.name;
        let limit = query.limit.saturating_add(1);
        let version = plan.version();
        let sql = format!(
            "SELECT {item}, {version} FROM {name} AS t WHERE {conditions} ORDER BY {order} \
             LIMIT {limit}"
        );
        Ok(plan.reading(sql))
    }

    /// Counts the rows of a query, up to `most`.
    pub(crate) fn count(
        table: &'t Table,
        query: &ListQuery,
        most: u64,
    ) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let conditions = joined(&plan.of_query(query)?);
        let name = &table.name;
        let sql = format!(
            "SELECT '{{}}', count(*) FROM (SELECT 1 FROM {name} AS t WHERE {conditions} \
             LIMIT {most}) AS counted"
        );
        Ok(plan.reading(sql))
    }

    /// Returns the statement that reads the row with an id.
    pub(crate) fn get(
        table: &'t Table,
        id: &Value,
        scope: &RowFilter,
    ) -> Result<Statement, SqlError> {
        Self::row(table, id, scope, &item(table))
    }

    /// Like [`get`](Self::get) without a scope, but with a marked row if SQLite
    /// cannot write the row as JSON.
    pub(crate) fn get_checked(table: &'t Table, id: &Value) -> Result<Statement, SqlError> {
        Self::row(table, id, &RowFilter::all(), &checked_item(table))
    }

    fn row(
        table: &'t Table,
        id: &Value,
        scope: &RowFilter,
        item: &str,
    ) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let conditions = joined(&plan.of_row(id, scope)?);
        let (name, version) = (&table.name, plan.version());
        let sql = format!("SELECT {item}, {version} FROM {name} AS t WHERE {conditions}");
        Ok(plan.reading(sql))
    }

    /// Inserts a row with these values. If they include an id, the row starts
    /// with `version`, because another row may have had this id before.
    pub(crate) fn create(
        table: &'t Table,
        values: Map<String, Value>,
        version: u64,
    ) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let columns = values.keys().map(|name| known(table, name));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        let mut written: Vec<String> =
            columns.iter().map(|column| value::written(table, column)).collect();
        let has_id = values.contains_key(table.id);
        plan.parameter.insert("row".to_owned(), Value::Object(values));
        let version_name = quoted(VERSION);
        if has_id {
            plan.parameter.insert("version".to_owned(), json!(version));
            names.push(&version_name);
            written.push(plan.parameter_version());
        }
        let (item, name) = (item(table), &table.name);
        let values = match (names.is_empty(), table.dialect) {
            (true, _) => "DEFAULT VALUES".to_owned(),
            (false, Dialect::Sqlite) => {
                format!("({}) VALUES ({})", names.join(", "), written.join(", "))
            }
            (false, Dialect::Postgres) => format!(
                "({}) SELECT {} FROM {} r",
                names.join(", "),
                written.join(", "),
                value::record(table, "{row}")
            ),
        };
        let version = plan.version();
        let sql = format!("INSERT INTO {name} AS t {values} RETURNING {item}, {version}");
        Ok(plan.writing(sql))
    }

    /// Writes these fields of a row. Fields without a value become null or the
    /// column's default.
    pub(crate) fn replace(
        table: &'t Table,
        id: &Value,
        values: Map<String, Value>,
        fields: &[String],
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let mut conditions = plan.of_row(id, scope)?;
        conditions.extend(plan.expected(expected));
        let version = quoted(VERSION);
        let old_version = value::of_row(table.dialect, &version);
        let mut set = vec![format!("{version} = {old_version} + 1")];
        for field in fields.iter().filter(|field| *field != table.id) {
            let column = known(table, field)?;
            let value = match (values.contains_key(field), column.field.is_nullable) {
                (true, _) => value::written(table, column),
                (false, true) => "NULL".to_owned(),
                (false, false) => default(table.dialect, column),
            };
            set.push(format!("{} = {value}", column.name));
        }
        plan.parameter.insert("row".to_owned(), Value::Object(values));
        let from = match table.dialect {
            Dialect::Postgres => format!(" FROM {} r", value::record(table, "{row}")),
            Dialect::Sqlite => String::new(),
        };
        let (item, name, set) = (item(table), &table.name, set.join(", "));
        let (conditions, version) = (joined(&conditions), plan.version());
        let sql = format!(
            "UPDATE {name} AS t SET {set}{from} WHERE {conditions} RETURNING {item}, {version}"
        );
        Ok(plan.writing(sql))
    }

    /// Deletes a row.
    pub(crate) fn delete(
        table: &'t Table,
        id: &Value,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Statement, SqlError> {
        let mut plan = Self::new(table);
        let mut conditions = plan.of_row(id, scope)?;
        conditions.extend(plan.expected(expected));
        let (name, conditions, version) = (&table.name, joined(&conditions), plan.version());
        let sql = format!("DELETE FROM {name} AS t WHERE {conditions} RETURNING '{{}}', {version}");
        Ok(plan.writing(sql))
    }

    /// Returns the conditions for a row and its scope.
    fn of_row(&mut self, id: &Value, scope: &RowFilter) -> Result<Vec<String>, SqlError> {
        let column = known(self.table, self.table.id)?;
        let id = value::of_column(self.table, column, id);
        self.parameter.insert("id".to_owned(), id);
        let value = scalar(self.table, column, &Place::of("id"));
        let row = value::of_row(self.table.dialect, &column.name);
        let mut conditions = vec![format!("{row} = {value}")];
        conditions.extend(self.scope(scope)?);
        Ok(conditions)
    }

    /// Returns the condition for the expected version.
    fn expected(&mut self, expected: VersionCheck) -> Option<String> {
        let VersionCheck::Version(version) = expected else { return None };
        // A version that does not fit into the column never matches, and
        // neither does -1.
        let version = i64::try_from(version.0).unwrap_or(-1);
        self.parameter.insert("version".to_owned(), json!(version));
        Some(format!("{} = {}", self.version(), self.parameter_version()))
    }

    /// Returns the SQL expression for the version of a row.
    fn version(&self) -> String {
        let version = value::of_row(self.table.dialect, &quoted(VERSION));
        match self.table.dialect {
            Dialect::Postgres => format!("{version}::bigint"),
            Dialect::Sqlite => version,
        }
    }

    fn parameter_version(&self) -> String {
        match self.table.dialect {
            Dialect::Postgres => "($1->>'version')::bigint".to_owned(),
            Dialect::Sqlite => "json_extract(?1, '$.version')".to_owned(),
        }
    }

    /// Returns an `ORDER BY` key with its direction.
    fn key_of_order(&self, sort: &Sort) -> Result<String, SqlError> {
        let key = value::ordered(self.table, known(self.table, &sort.field)?);
        Ok(match sort.direction {
            Direction::Ascending => key,
            Direction::Descending => format!("{key} DESC"),
        })
    }

    fn reading(self, sql: String) -> Statement {
        Statement::reading(sql, Value::Object(self.parameter).to_string())
    }

    fn writing(self, sql: String) -> Statement {
        Statement::writing(sql, Value::Object(self.parameter).to_string())
    }
}

/// Returns the column of a field. Unknown names are rejected, because a name
/// becomes part of the statement.
fn known<'t>(table: &'t Table, field: &str) -> Result<&'t Column, SqlError> {
    table.column(field).ok_or_else(|| {
        SqlError::failed(format!("{}: the field {field:?} does not have a column", table.name))
    })
}

/// Returns the SQL expression for a column's default in an assignment.
fn default(dialect: Dialect, column: &Column) -> String {
    match (dialect, &column.default) {
        (Dialect::Postgres, _) => "DEFAULT".to_owned(),
        // SQLite does not have the `DEFAULT` keyword here. This is the text
        // from the table's definition.
        (Dialect::Sqlite, Some(default)) => format!("({default})"),
        (Dialect::Sqlite, None) => "NULL".to_owned(),
    }
}

fn joined(conditions: &[String]) -> String {
    if conditions.is_empty() { "TRUE".to_owned() } else { conditions.join(" AND ") }
}

/// Returns true if clients can order by a column.
pub(crate) fn has_order(column: &Column, dialect: Dialect) -> bool {
    match column.field.kind {
        Kind::Array | Kind::Object | Kind::Any => false,
        // SQLite stores it as a text.
        Kind::Decimal => dialect != Dialect::Sqlite,
        Kind::Boolean | Kind::Integer | Kind::Number | Kind::Text => true,
    }
}
