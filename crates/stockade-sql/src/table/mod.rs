//! A table that matches a type.

mod check;
mod create;
mod field;

use serde_json::{Map, Value};
use stockade_errors::{ConfigError, ConfigIssue, FieldError};
use stockade_rest::Entity;

pub use create::create_table_sql;
pub(crate) use field::{Field, Kind};

use crate::{Dialect, Row, SqlError, Statement};

/// The column with the version of a row.
pub(crate) const VERSION: &str = "version";

/// The configuration error for a field with the name of the version column.
const VERSION_IS_TAKEN: &str =
    "this column counts the writes of a row, so a field cannot have this name";

/// A table with columns that match the fields of a type.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) dialect: Dialect,
    /// The quoted name for statements.
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// The name of the id field.
    pub(crate) id: &'static str,
    /// The unique constraints, each with its name and columns.
    pub(crate) unique: Vec<(String, Vec<String>)>,
}

/// The column of a field.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) field: Field,
    /// The quoted name for statements.
    pub(crate) name: String,
    /// True if the column type is a text, which supports prefixes.
    pub(crate) is_text: bool,
    /// True if the column and its indexes compare texts by code points.
    pub(crate) has_text_order: bool,
    /// True if this is a PostgreSQL time, which does not store an offset.
    pub(crate) is_instant: bool,
    /// True if the collation differs from code point order.
    pub(crate) collates: bool,
    /// The range of integers that fit into the column.
    pub(crate) range: (i64, i64),
    /// The column default as SQL, for a dialect without the `DEFAULT` keyword.
    pub(crate) default: Option<String>,
}

impl Table {
    /// Returns the statement that describes a table.
    pub(crate) fn description(dialect: Dialect, name: &str) -> Statement {
        Statement::reading(check::query(dialect), check::parameter(dialect, name))
    }

    /// Compares a table with a type, using the rows of its description.
    ///
    /// # Errors
    /// Returns all configuration errors at once.
    pub(crate) fn of<T: Entity>(
        dialect: Dialect,
        name: &str,
        description: Result<Vec<Row>, SqlError>,
    ) -> Result<Self, ConfigError> {
        let rows = description.map_err(|error| ConfigIssue::new(format!("{name}: {error}")))?;
        let row = rows.first().map(|row| &*row.json);
        check::table(dialect, name, T::ID, &field::fields::<T>()?, row)
    }

    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.field.name == name)
    }

    /// Returns the only field of a constraint, or the only one of its fields
    /// that the client chose. Returns an empty text if there are none or
    /// several.
    pub(crate) fn field_of_constraint(
        &self,
        constraint: &str,
        is_chosen: impl Fn(&str) -> bool,
    ) -> String {
        let named = self.unique.iter().find(|(name, _)| name == constraint);
        let columns = match named {
            Some((_, columns)) => columns.clone(),
            // SQLite names columns: `table.a, table.b`.
            None => constraint
                .split(", ")
                .filter_map(|column| Some(column.rsplit_once('.')?.1.to_owned()))
                .collect(),
        };
        let mut chosen = columns.iter().filter(|column| columns.len() == 1 || is_chosen(column));
        match (chosen.next(), chosen.next()) {
            (Some(column), None) if self.column(column).is_some() => column.clone(),
            _ => String::new(),
        }
    }

    /// Returns errors for values that the columns cannot store although a
    /// schema may allow them.
    pub(crate) fn misfits(&self, values: &Map<String, Value>) -> Vec<FieldError> {
        let misfit = |(name, value): (&String, &Value)| {
            let column = self.column(name)?;
            let (least, greatest) = column.range;
            if column.field.kind == Kind::Integer && value.is_number() {
                let fits = value.as_i64().is_some_and(|it| (least..=greatest).contains(&it));
                let is_above = value.as_f64().is_some_and(|it| it > 0.0);
                return (!fits).then(|| bound_error(name, is_above, least, greatest));
            }
            let has_nul = self.dialect == Dialect::Postgres && has_nul(value);
            let error = || FieldError::new(name, "Text must not contain U+0000", "pattern");
            has_nul.then(|| error().with_text_id("nul"))
        };
        values.iter().filter_map(misfit).collect()
    }
}

fn bound_error(name: &str, is_above: bool, least: i64, greatest: i64) -> FieldError {
    let (rule, limit, message) = if is_above {
        ("maximum", greatest, format!("Number must be at most {greatest}"))
    } else {
        ("minimum", least, format!("Number must be at least {least}"))
    };
    FieldError::new(name, message, rule).with_text_id(rule).with_param("limit", limit)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains('\0') || has_nul(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Quotes a name.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a table name, which may include a schema in PostgreSQL.
pub(crate) fn quoted_table(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Postgres => name.split('.').map(quoted).collect::<Vec<_>>().join("."),
        Dialect::Sqlite => quoted(name),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use stockade_validation::Schema;

    use super::*;

    #[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
    pub(crate) struct Product {
        pub(crate) id: i64,
        pub(crate) name: String,
        pub(crate) price: u32,
        pub(crate) category: Option<String>,
        pub(crate) open: bool,
        #[serde(default)]
        pub(crate) tags: Vec<String>,
    }

    impl Entity for Product {
        type Id = i64;
    }

    /// Returns the table that `create_table_sql` creates.
    pub(crate) fn products(dialect: Dialect) -> Table {
        let fields = field::fields::<Product>().unwrap();
        let column = |field: Field| Column {
            name: quoted(&field.name),
            is_text: field.kind == Kind::Text,
            has_text_order: field.kind == Kind::Text,
            is_instant: false,
            collates: false,
            range: (i64::MIN, i64::MAX),
            default: (field.name == "tags").then(|| "'[]'".to_owned()),
            field,
        };
        let columns = fields.into_iter().map(column).collect();
        let unique = vec![("products_name_key".to_owned(), vec!["name".to_owned()])];
        Table { dialect, name: quoted("products"), columns, id: "id", unique }
    }

    #[test]
    fn names_are_always_in_quotes() {
        assert_eq!(quoted("a\"; DROP TABLE x; --"), "\"a\"\"; DROP TABLE x; --\"");
        assert_eq!(quoted_table(Dialect::Postgres, "shop.items"), "\"shop\".\"items\"");
        assert_eq!(quoted_table(Dialect::Sqlite, "shop.items"), "\"shop.items\"");
    }

    #[test]
    fn a_constraint_determines_its_field() {
        let table = products(Dialect::Postgres);
        let field_of = |constraint: &str, chosen: &[&str]| {
            table.field_of_constraint(constraint, |field| chosen.contains(&field))
        };
        assert_eq!(field_of("products_name_key", &[]), "name");
        assert_eq!(field_of("products.name", &[]), "name");
        let both = "products.name, products.price";
        for (chosen, expected) in
            [(&["name", "price"][..], ""), (&[], ""), (&["price"], "price"), (&["id"], "")]
        {
            assert_eq!(field_of(both, chosen), expected, "{chosen:?}");
        }
        assert_eq!(field_of("products.secret", &["secret"]), "");
        assert_eq!(field_of("index 'by_lower_name'", &["name"]), "");
    }

    #[test]
    fn names_values_that_columns_cannot_store() {
        let mut table = products(Dialect::Postgres);
        table.columns[2].range = (-5, 5);
        let misfits = |values: Value| {
            let errors = table.misfits(values.as_object().unwrap());
            errors.into_iter().map(|error| error.message.into_owned()).collect::<Vec<_>>()
        };
        assert!(misfits(json!({ "price": 5, "name": "x", "category": null })).is_empty());
        assert_eq!(misfits(json!({ "price": 6 })), ["Number must be at most 5"]);
        assert_eq!(misfits(json!({ "price": -6 })), ["Number must be at least -5"]);
        assert_eq!(misfits(json!({ "id": u64::MAX })).len(), 1);
        assert_eq!(misfits(json!({ "name": "a\0b", "tags": ["\0"] })).len(), 2);
    }
}
