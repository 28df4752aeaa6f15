//! Tests that an index serves prefix filters.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::json;
use stockade_core::BoxFuture;
use stockade_rest::{Direction, Filter, ListQuery, Op, Sort, Store as _};
use stockade_sql::rusqlite::{self, Connection};
use stockade_sql::{Dialect, Driver, Row, SqlError, SqlStore, Statement, create_table_sql};

use crate::item::{Item, draft};

/// A driver that records the query plans of its statements.
#[derive(Clone)]
struct Explaining {
    connection: Arc<Mutex<Connection>>,
    plan: Arc<Mutex<Vec<String>>>,
}

impl Explaining {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap()
    }

    fn plan(&self) -> Vec<String> {
        std::mem::take(&mut self.plan.lock().unwrap())
    }
}

impl Driver for Explaining {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let connection = self.connection();
            let mut explain =
                connection.prepare(&format!("EXPLAIN QUERY PLAN {}", statement.sql))?;
            let count = explain.parameter_count();
            let parameters = vec![statement.parameter; count];
            let parameters = || rusqlite::params_from_iter(parameters.iter());
            let lines = explain.query_map(parameters(), |row| row.get::<_, String>(3))?;
            *self.plan.lock().unwrap() = lines.collect::<Result<_, _>>()?;
            let mut prepared = connection.prepare(&statement.sql)?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Row::new(row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            };
            let rows = prepared.query_map(parameters(), row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn begins(values: &[&str]) -> Vec<Filter> {
    let values = values.iter().map(|value| json!(value)).collect();
    vec![Filter { field: "name".to_owned(), op: Op::Prefix, values }]
}

async fn store(column: &str) -> (SqlStore<Item, Explaining>, Explaining) {
    let connection = Connection::open_in_memory().unwrap();
    let create = create_table_sql::<Item>(Dialect::Sqlite, "items").unwrap();
    let create = create.replace("\"name\" TEXT NOT NULL", column);
    let index = "CREATE INDEX items_name ON items (name COLLATE BINARY, id);";
    connection.execute_batch(&format!("{create} {index}")).unwrap();
    let driver = Explaining { connection: Arc::new(Mutex::new(connection)), plan: Arc::default() };
    (SqlStore::open(driver.clone(), "items").await.unwrap(), driver)
}

#[tokio::test]
async fn an_index_serves_a_prefix_from_both_sides() {
    for column in ["\"name\" TEXT NOT NULL", "\"name\" TEXT NOT NULL COLLATE NOCASE"] {
        let (store, driver) = store(column).await;
        let sort = |field: &str| Sort { field: field.to_owned(), direction: Direction::Ascending };
        let by_name = vec![sort("name"), sort("id")];
        for (filters, sorts, expected) in [
            (begins(&["te"]), by_name.clone(), "items_name (name>? AND name<?)"),
            (begins(&["te"]), ListQuery::new("id", 1).sorts, "items_name (name>? AND name<?)"),
            // No text sorts after these.
            (begins(&["\u{10ffff}"]), by_name.clone(), "items_name (name>?)"),
        ] {
            let list_query = ListQuery { filters, sorts, ..ListQuery::new("id", 9) };
            store.list(&list_query).await.unwrap();
            let plan = driver.plan();
            let is_used = plan.iter().any(|line| line.contains(expected));
            assert!(is_used, "{column} {list_query:?} {plan:?}");
        }
    }
}

/// SQLite itself prefers a scan for several ranges of a column with another
/// collation.
#[tokio::test]
async fn an_index_serves_several_prefixes() {
    let (store, driver) = store("\"name\" TEXT NOT NULL").await;
    let list_query = ListQuery { filters: begins(&["te%", "Te_"]), ..ListQuery::new("id", 9) };
    store.list(&list_query).await.unwrap();
    let plan = driver.plan();
    let ranges = plan.iter().filter(|line| line.contains("items_name (name>? AND name<?)"));
    assert_eq!(ranges.count(), 2, "{plan:?}");
}

#[tokio::test]
async fn a_prefix_is_case_sensitive_and_has_no_wildcards() {
    let names = [
        "te",
        "tea",
        "Tea",
        "TE",
        "tf",
        "te%",
        "te_",
        "te\0",
        "te\u{10ffff}",
        "t",
        "te\u{7f}",
        "\u{d7ff}",
        "\u{d7ff}a",
        "\u{e000}",
        "\u{10ffff}",
        "\u{10ffff}a",
        "e\u{301}",
        "é",
    ];
    for column in ["\"name\" TEXT NOT NULL", "\"name\" TEXT NOT NULL COLLATE NOCASE"] {
        let (store, _) = store(column).await;
        for name in names {
            store.create(draft(name, 1, "ada")).await.unwrap();
        }
        for prefix in names {
            let list_query = ListQuery { filters: begins(&[prefix]), ..ListQuery::new("id", 99) };
            let items = store.list(&list_query).await.unwrap().items.into_iter();
            let found: Vec<_> = items.map(|item| item.value.name).collect();
            let expected: Vec<_> = names.iter().filter(|name| name.starts_with(prefix)).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{column} {prefix:?}");
        }
    }
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn an_index_of_postgres_serves_a_prefix() {
    use crate::engines::postgres::{few, schema, table};

    let (db, schema) = schema(&few().pool(1)).await;
    let name = format!("{schema}.items");
    let index = format!("CREATE INDEX items_name ON {name} (name, id);");
    let store = table::<Item>(&db, &name, |create| format!("{create} {index}")).await;
    for name in ["tea", "teapot", "Tea", "coffee", "te\u{10ffff}", "tf"] {
        store.create(draft(name, 1, "ada")).await.unwrap();
    }
    let list_query = ListQuery { filters: begins(&["te"]), ..ListQuery::new("id", 9) };
    let page = store.list(&list_query).await.unwrap();
    let names: Vec<_> = page.items.into_iter().map(|item| item.value.name).collect();
    assert_eq!(names, ["tea", "teapot", "te\u{10ffff}"]);

    // The condition of the statement, on a table large enough for an index.
    let client = db.client().await.unwrap();
    let fill = format!(
        "INSERT INTO {name} (name, price, rating, open, owner)
        SELECT 'n' || n, 1, 1, true, '' FROM generate_series(1, 5000) n; ANALYZE {name}"
    );
    client.batch_execute(&fill).await.unwrap();
    let text = |value: &str| {
        format!("(SELECT r.name FROM jsonb_populate_record(NULL::{name}, '{value}') r)")
    };
    let (value, end) = (text(r#"{"name":"te"}"#), text(r#"{"name":"tf"}"#));
    let explain = format!(
        "EXPLAIN SELECT * FROM {name} AS t WHERE (t.name >= {value} AND t.name < {end}
        AND starts_with(t.name, {value})) ORDER BY t.name, t.id LIMIT 10"
    );
    let lines = client.query(&explain, &[]).await.unwrap();
    let lines: Vec<String> = lines.iter().map(|line| line.get(0)).collect();
    let has_bounds = |line: &String| {
        line.contains("Index Cond") && line.contains("name >=") && line.contains("name <")
    };
    assert!(lines.iter().any(has_bounds), "{lines:#?}");
}
