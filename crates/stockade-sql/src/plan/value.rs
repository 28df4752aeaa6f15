//! Values and columns as SQL expressions.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::Dialect;
use crate::table::{Column, Kind, Table, quoted};
use crate::unreadable::MARK;

/// The position of a value in the parameter.
pub(super) struct Place {
    /// A name, followed by list indexes.
    steps: Vec<String>,
}

impl Place {
    pub(super) fn of(name: &str) -> Self {
        Self { steps: vec![name.to_owned()] }
    }

    pub(super) fn at(mut self, index: usize) -> Self {
        self.steps.push(index.to_string());
        self
    }

    /// Returns the path for PostgreSQL: `{filters,0,1}`.
    pub(super) fn postgres(&self) -> String {
        format!("{{{}}}", self.steps.join(","))
    }

    /// Returns the path for SQLite: `$.filters[0][1]`.
    pub(super) fn sqlite(&self) -> String {
        let mut path = "$".to_owned();
        for (index, step) in self.steps.iter().enumerate() {
            // Writing to a `String` does not fail.
            let _ = if index == 0 { write!(path, ".{step}") } else { write!(path, "[{step}]") };
        }
        path
    }
}

/// Returns the `FROM` expression for an object in the parameter.
pub(super) fn record(table: &Table, path: &str) -> String {
    format!("jsonb_populate_record(NULL::{}, $1 #> '{path}')", table.name)
}

/// Returns a value for the parameter, wrapped with its column name if the
/// dialect needs it.
pub(super) fn of_column(table: &Table, column: &Column, value: &Value) -> Value {
    match table.dialect {
        Dialect::Postgres => json!({ (column.field.name.as_str()): value }),
        Dialect::Sqlite => value.clone(),
    }
}

/// Returns the expression for a parameter value with the type of a column.
pub(super) fn scalar(table: &Table, column: &Column, place: &Place) -> String {
    match table.dialect {
        Dialect::Postgres => {
            format!("(SELECT r.{} FROM {} r)", column.name, record(table, &place.postgres()))
        }
        Dialect::Sqlite => format!("json_extract(?1, '{}')", place.sqlite()),
    }
}

/// Returns the operator and the list of parameter values, for `= ANY` and `IN`.
pub(super) fn any_of(table: &Table, column: &Column, place: &Place) -> String {
    match table.dialect {
        Dialect::Postgres => format!(
            "= ANY (ARRAY(SELECT r.{} FROM jsonb_populate_recordset(NULL::{}, $1 #> '{}') r))",
            column.name,
            table.name,
            place.postgres()
        ),
        Dialect::Sqlite => {
            format!("IN (SELECT value FROM json_each(?1, '{}'))", place.sqlite())
        }
    }
}

/// Returns the expression for a written value.
pub(super) fn written(table: &Table, column: &Column) -> String {
    let name = &column.field.name;
    match table.dialect {
        Dialect::Postgres => format!("r.{}", column.name),
        // JSON null becomes SQL null rather than a text.
        Dialect::Sqlite if column.field.kind.is_json() => {
            format!("nullif(?1 -> '$.row.\"{name}\"', 'null')")
        }
        Dialect::Sqlite => format!("json_extract(?1, '$.row.\"{name}\"')"),
    }
}

/// Returns a column for comparisons in code point order.
pub(super) fn ordered(table: &Table, column: &Column) -> String {
    let name = of_row(table.dialect, &column.name);
    match (column.collates, table.dialect) {
        (false, _) => name,
        (true, Dialect::Postgres) => format!("{name} COLLATE \"C\""),
        (true, Dialect::Sqlite) => format!("{name} COLLATE BINARY"),
    }
}

/// Returns a column of the statement's row.
///
/// SQLite's `RETURNING` does not accept the table alias. PostgreSQL needs the
/// alias to distinguish the row from the record with the new values.
pub(super) fn of_row(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Postgres => format!("t.{name}"),
        Dialect::Sqlite => name.to_owned(),
    }
}

/// Returns the expression for a row's item, as a JSON text.
pub(super) fn item(table: &Table) -> String {
    match table.dialect {
        Dialect::Postgres => {
            let columns = table.columns.iter().map(|column| match column.field.kind {
                // Without the cast, its digits would become a float.
                Kind::Decimal => format!("t.{name}::text AS {name}", name = column.name),
                // In UTC, regardless of the connection's time zone.
                _ if column.is_instant => format!(
                    "(to_json(t.{name} AT TIME ZONE 'UTC') #>> '{{}}') || '+00:00' AS {name}",
                    name = column.name
                ),
                _ => format!("t.{}", column.name),
            });
            let columns = columns.collect::<Vec<_>>().join(", ");
            format!("(SELECT to_json(i) FROM (SELECT {columns}) i)::text")
        }
        Dialect::Sqlite => {
            let members = table.columns.iter().map(|column| {
                let name = &column.name;
                let value = match column.field.kind {
                    Kind::Boolean => {
                        format!("json(CASE {name} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END)")
                    }
                    Kind::Array | Kind::Object | Kind::Any => format!("json({name})"),
                    Kind::Integer | Kind::Number | Kind::Text | Kind::Decimal => name.clone(),
                };
                format!("'{}', {value}", column.field.name)
            });
            format!("json_object({})", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Like [`item`], but returns a [marked](MARK) object if SQLite cannot write
/// one of the values as JSON. It checks each value again.
pub(super) fn checked_item(table: &Table) -> String {
    let is_wrong = |column: &Column| {
        let name = &column.name;
        if column.field.kind.is_json() {
            format!("({name} IS NOT NULL AND NOT json_valid({name}))")
        } else {
            format!("typeof({name}) = 'blob'")
        }
    };
    let wrong = |column: &Column| format!("WHEN {} THEN '{}'", is_wrong(column), column.field.name);
    let columns = table.columns.iter().map(wrong).collect::<Vec<_>>().join(" ");
    let id = quoted(table.id);
    let id = format!("CASE typeof({id}) WHEN 'blob' THEN hex({id}) ELSE {id} END");
    let column = format!("CASE {columns} END");
    let item = item(table);
    format!(
        "CASE WHEN {column} IS NULL THEN {item} \
         ELSE json_object('{MARK}', json_array({id}, {column})) END"
    )
}
