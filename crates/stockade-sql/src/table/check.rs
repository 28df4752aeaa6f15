//! Compares a table with the fields of a type and reports all configuration
//! errors at once.

use serde::Deserialize;
use serde_json::json;
use stockade_errors::{ConfigError, ConfigIssue};

use super::field::{Field, Kind};
use super::{Column, Table, VERSION, VERSION_IS_TAKEN, quoted, quoted_table};
use crate::Dialect;

/// Describes a table as one JSON object. Returns no row if the table is
/// missing.
const SQLITE: &str = "SELECT json_object(
    'columns', json((SELECT json_group_array(json_object('name', c.name, 'type', upper(c.type),
        'is_null', json(iif(c.\"notnull\" OR (c.pk AND upper(c.type) = 'INTEGER'),
            'false', 'true')),
        'has_default', json(iif(c.dflt_value IS NOT NULL OR c.hidden > 1
            OR (c.pk AND upper(c.type) = 'INTEGER'), 'true', 'false')),
        'default', c.dflt_value,
        'collates', json(iif(t.sql LIKE '%collate%', 'true', 'false'))))
        FROM pragma_table_xinfo(t.name) c)),
    'unique', json((SELECT json_group_array(json_object('name', i.name, 'columns', json(i.columns)))
        FROM (SELECT l.name, json_group_array(n.name) AS columns
            FROM pragma_index_list(t.name) l, pragma_index_info(l.name) n
            WHERE l.\"unique\" AND NOT l.partial GROUP BY l.name
            UNION ALL SELECT '', json_group_array(k.name)
            FROM pragma_table_info(t.name) k WHERE k.pk) i))), 0
    FROM sqlite_schema t WHERE t.type = 'table' AND t.name = json_extract(?1, '$.table')";

const POSTGRES: &str = "SELECT jsonb_build_object(
    'columns', (SELECT jsonb_agg(jsonb_build_object('name', a.attname,
        'type', CASE WHEN y.typcategory = 'A' THEN 'json' ELSE y.typname END,
        'is_null', NOT a.attnotnull,
        'has_default', a.atthasdef OR a.attidentity <> '', 'default', NULL,
        'collates', a.attcollation NOT IN (0, 950, 951) AND NOT (a.attcollation = 100
            AND d.datcollate IN ('C', 'POSIX')
            AND coalesce(to_jsonb(d)->>'datlocprovider', 'c') = 'c')) ORDER BY a.attnum)
        FROM pg_attribute a JOIN pg_type o ON o.oid = a.atttypid
        JOIN pg_type y ON y.oid = coalesce(nullif(o.typbasetype, 0), o.oid)
        WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'unique', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', x.relname,
        'columns', (SELECT jsonb_agg(a.attname) FROM pg_attribute a
            WHERE a.attrelid = t.oid AND a.attnum = ANY (i.indkey::int2[])))), '[]')
        FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
        WHERE i.indrelid = t.oid AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL)
    )::text, 0::bigint
    FROM pg_class t, pg_database d
    WHERE t.oid = to_regclass($1->>'table') AND d.datname = current_database()";

/// Returns the statement that describes a table.
pub(super) fn query(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite => SQLITE,
    }
}

/// Returns the parameter of [`query`].
pub(super) fn parameter(dialect: Dialect, name: &str) -> String {
    match dialect {
        // `to_regclass` expects a quoted name, as in a statement.
        Dialect::Postgres => json!({ "table": quoted_table(dialect, name) }).to_string(),
        Dialect::Sqlite => json!({ "table": name }).to_string(),
    }
}

#[derive(Deserialize)]
struct FoundTable {
    columns: Vec<FoundColumn>,
    unique: Vec<FoundUnique>,
}

#[derive(Deserialize)]
struct FoundColumn {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    is_null: bool,
    has_default: bool,
    default: Option<String>,
    collates: bool,
}

#[derive(Deserialize)]
struct FoundUnique {
    name: String,
    columns: Vec<Option<String>>,
}

/// Creates a table from its description if it matches the fields.
pub(super) fn table(
    dialect: Dialect,
    name: &str,
    id: &'static str,
    fields: &[Field],
    found: Option<&str>,
) -> Result<Table, ConfigError> {
    let Some(found) = found else {
        return Err(ConfigIssue::new(format!("{name}: the table does not exist")).into());
    };
    let found: FoundTable = serde_json::from_str(found).map_err(|error| {
        ConfigIssue::new(format!("{name}: its description cannot be read: {error}"))
    })?;
    let mut mistakes = Vec::new();
    let mut columns = Vec::new();
    for field in fields {
        match found.columns.iter().find(|column| column.name == field.name) {
            Some(column) => {
                mistakes.extend(misfits(dialect, field, column, field.name == id));
                columns.push(fitting(dialect, field, column));
            }
            None => mistakes.push(format!("{}: the column does not exist", field.name)),
        }
    }
    mistakes.extend(without_field(&found, fields));
    let is_key = |unique: &FoundUnique| matches!(&*unique.columns, [Some(only)] if only == id);
    if !found.unique.iter().any(is_key) {
        mistakes.push(format!("{id}: must be the primary key or unique by itself"));
    }
    let mistakes = mistakes.into_iter().map(|text| ConfigIssue::new(format!("{name}.{text}")));
    ConfigError::check(mistakes.collect())?;
    let unique = found.unique.into_iter().map(|unique| {
        // An expression does not have a column name to report.
        let columns = unique.columns.into_iter().map(Option::unwrap_or_default);
        (unique.name, columns.collect())
    });
    let unique = unique.filter(|(name, _)| !name.is_empty()).collect();
    Ok(Table { dialect, name: quoted_table(dialect, name), columns, id, unique })
}

/// Returns the configuration errors of columns without a field, and of the
/// version column.
fn without_field(found: &FoundTable, fields: &[Field]) -> Vec<String> {
    let mut mistakes = Vec::new();
    let version = found.columns.iter().find(|column| column.name == VERSION);
    match version {
        _ if fields.iter().any(|field| field.name == VERSION) => {
            mistakes.push(format!("{VERSION}: {VERSION_IS_TAKEN}"));
        }
        None => mistakes.push(format!(
            "{VERSION}: the column does not exist; add it as an integer, NOT NULL, with a default \
             of 1"
        )),
        Some(column) if column.is_null || !column.has_default => {
            mistakes.push(format!("{VERSION}: must have NOT NULL and a default of 1"));
        }
        Some(column) if !is_integer(&column.kind) => {
            mistakes.push(format!("{VERSION}: expected an integer, found {}", column.kind));
        }
        Some(_) => {}
    }
    for column in &found.columns {
        let is_known = fields.iter().any(|field| field.name == column.name);
        if !is_known && !column.is_null && !column.has_default && column.name != VERSION {
            let name = &column.name;
            mistakes
                .push(format!("{name}: NOT NULL without a default, but no field has this name"));
        }
    }
    mistakes
}

/// Returns the mismatches between a column and its field.
fn misfits(dialect: Dialect, field: &Field, column: &FoundColumn, is_id: bool) -> Vec<String> {
    let mut mistakes = Vec::new();
    let fits = match dialect {
        Dialect::Postgres => fits_postgres(field.kind, &column.kind),
        Dialect::Sqlite => fits_sqlite(field.kind, &column.kind),
    };
    let name = &field.name;
    if !fits {
        let kind = format!("{:?}", field.kind).to_lowercase();
        mistakes.push(format!("{name}: {} cannot store every {kind}", column.kind));
    }
    if is_id {
        return mistakes;
    }
    if field.is_nullable && !column.is_null {
        mistakes.push(format!("{name}: NOT NULL, but the field can be null"));
    }
    if !field.is_nullable && column.is_null {
        mistakes.push(format!("{name}: must be NOT NULL, because the field is never null"));
    }
    if !field.is_nullable && field.is_optional && !column.has_default {
        mistakes.push(format!("{name}: must have a default, because the field can be absent"));
    }
    mistakes
}

fn fitting(dialect: Dialect, field: &Field, column: &FoundColumn) -> Column {
    let is_text = match dialect {
        Dialect::Postgres => matches!(&*column.kind, "text" | "varchar" | "bpchar" | "citext"),
        Dialect::Sqlite => field.kind == Kind::Text,
    };
    let range = match &*column.kind {
        "int2" => (i64::from(i16::MIN), i64::from(i16::MAX)),
        "int4" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let is_plain_text = matches!(&*column.kind, "text" | "varchar") || dialect == Dialect::Sqlite;
    Column {
        name: quoted(&field.name),
        is_text,
        has_text_order: is_text && is_plain_text && !column.collates,
        is_instant: column.kind == "timestamptz" && field.format == "date-time",
        collates: column.collates && is_text,
        range,
        default: column.default.clone(),
        field: field.clone(),
    }
}

fn is_integer(kind: &str) -> bool {
    kind.contains("INT") || matches!(kind, "int2" | "int4" | "int8")
}

fn fits_postgres(field: Kind, column: &str) -> bool {
    let is_json = matches!(column, "json" | "jsonb");
    match field {
        Kind::Boolean => column == "bool",
        Kind::Integer => is_integer(column),
        Kind::Number => matches!(column, "float4" | "float8" | "numeric"),
        Kind::Decimal => column == "numeric",
        // Dates, UUIDs, enums and addresses all have a text form.
        Kind::Text => {
            let is_other = is_integer(column) || matches!(column, "bool" | "float4" | "float8");
            !is_json && !is_other && column != "numeric"
        }
        Kind::Array | Kind::Object | Kind::Any => is_json,
    }
}

/// Decides by the column affinity (SQLite documentation, "Datatypes", section
/// 3.1).
fn fits_sqlite(field: Kind, column: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| column.contains(name));
    let is_integer = has(&["INT"]);
    let is_text = !is_integer && has(&["CHAR", "CLOB", "TEXT"]);
    let is_real = !is_integer && !is_text && has(&["REAL", "FLOA", "DOUB"]);
    let is_blob = !is_integer && !is_text && !is_real && (column.is_empty() || has(&["BLOB"]));
    match field {
        Kind::Boolean => !is_text && !is_real && !is_blob,
        Kind::Integer => is_integer,
        Kind::Number => is_real,
        Kind::Decimal | Kind::Text | Kind::Array | Kind::Object | Kind::Any => is_text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::fields;
    use super::super::tests::Product;
    use super::*;

    #[track_caller]
    fn check(found: &serde_json::Value, expected: &[&str]) {
        let fields = fields::<Product>().unwrap();
        let found = found.to_string();
        let error = table(Dialect::Postgres, "products", "id", &fields, Some(&found)).unwrap_err();
        let messages: Vec<_> = error.issues().iter().map(ConfigIssue::message).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn reports_all_errors_together() {
        let column = |name: &str, kind: &str, is_null: bool| {
            json!({ "name": name, "type": kind, "is_null": is_null, "has_default": false,
                "default": null, "collates": false })
        };
        let columns = [
            column("id", "int8", false),
            column("name", "int4", false),
            column("price", "int8", true),
            column("category", "text", false),
            column("tags", "json", false),
            column("secret", "text", false),
        ];
        let expected = [
            "products.name: int4 cannot store every text",
            "products.price: must be NOT NULL, because the field is never null",
            "products.category: NOT NULL, but the field can be null",
            "products.open: the column does not exist",
            "products.tags: must have a default, because the field can be absent",
            "products.version: the column does not exist; add it as an integer, NOT NULL, with a \
             default of 1",
            "products.secret: NOT NULL without a default, but no field has this name",
            "products.id: must be the primary key or unique by itself",
        ];
        check(&json!({ "columns": columns, "unique": [] }), &expected);
    }

    #[test]
    fn rejects_types_that_would_change_a_value() {
        for (kind, column, fits) in [
            (Kind::Text, "VARCHAR(20)", true),
            (Kind::Text, "NUMERIC", false),
            (Kind::Text, "", false),
            (Kind::Integer, "BIGINT", true),
            (Kind::Integer, "REAL", false),
            (Kind::Number, "DOUBLE", true),
            (Kind::Number, "INTEGER", false),
            (Kind::Boolean, "BOOLEAN", true),
            (Kind::Boolean, "TEXT", false),
            (Kind::Array, "TEXT", true),
        ] {
            assert_eq!(fits_sqlite(kind, column), fits, "{kind:?} {column}");
        }
        for (kind, column, fits) in [
            (Kind::Text, "uuid", true),
            (Kind::Text, "jsonb", false),
            (Kind::Text, "int4", false),
            (Kind::Integer, "numeric", false),
            (Kind::Decimal, "numeric", true),
            (Kind::Decimal, "float8", false),
            (Kind::Any, "jsonb", true),
            (Kind::Any, "text", false),
        ] {
            assert_eq!(fits_postgres(kind, column), fits, "{kind:?} {column}");
        }
    }
}
