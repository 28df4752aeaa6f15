//! Tests that apply only to PostgreSQL: its types, its errors, and a server
//! that stops.

use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade_core::BoxFuture;
use stockade_errors::ApiError;
use stockade_rest::{
    Direction, Entity, Filter, ListQuery, NewRow, Op, RowFilter, Sort, Store as _, StoreError,
    VersionCheck,
};
use stockade_sql::{Driver as _, Postgres, SqlError, Statement};
use stockade_validation::Schema;

use crate::engines::postgres::{few, items, schema, table};
use crate::item::draft;

/// A type with columns that are not JSON types.
#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Order {
    #[schema(format = "uuid")]
    id: String,
    #[schema(format = "date-time")]
    at: String,
    #[schema(format = "date")]
    day: Option<String>,
    amount: f64,
    count: u16,
    state: String,
    words: Vec<String>,
}

impl Entity for Order {
    type Id = String;
}

fn is_invalid<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Invalid(_)))
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn the_server_converts_every_type() {
    let (db, schema) = schema(&few()).await;
    let state = format!("CREATE TYPE {schema}.state AS ENUM ('new', 'paid')");
    db.client().await.unwrap().batch_execute(&state).await.unwrap();
    let change = |create: String| {
        let create =
            create.replace("\"state\" text COLLATE \"C\"", &format!("\"state\" {schema}.state"));
        create.replace("\"words\" jsonb", "\"words\" text[]")
    };
    let store = table::<Order>(&db, &format!("{schema}.orders"), change).await;
    let order = |state: &str, count: i64| {
        NewRow::<Order>::new([
            ("at", json!("2026-11-23T10:00:00+01:00")),
            ("day", json!("2026-02-28")),
            ("amount", json!(0.1)),
            ("count", json!(count)),
            ("state", json!(state)),
            ("words", json!(["a", "b,c", "{"])),
        ])
    };
    let made = store.create(order("new", 7)).await.unwrap();
    let got = store.get(&made.value.id, &RowFilter::all()).await.unwrap().unwrap().value;
    assert_eq!((&*got.at, got.day.as_deref()), ("2026-11-23T09:00:00+00:00", Some("2026-02-28")));
    assert_eq!((&*got.state, got.words), ("new", vec!["a".into(), "b,c".into(), "{".into()]));

    assert!(is_invalid(&store.create(order("lost", 7)).await));
    let Err(StoreError::Invalid(errors)) = store.create(order("new", 3_000_000_000)).await else {
        panic!("the column has 32 bits, and a sign");
    };
    assert_eq!(
        (&*errors[0].field, &*errors[0].message),
        ("count", "Number must be at most 2147483647")
    );

    let filter = |field: &str, op, value| ListQuery {
        filters: vec![Filter { field: field.to_owned(), op, values: vec![value] }],
        sorts: vec![
            Sort { field: "at".to_owned(), direction: Direction::Descending },
            Sort { field: "id".to_owned(), direction: Direction::Ascending },
        ],
        ..ListQuery::new("id", 5)
    };
    let count =
        async |list_query: ListQuery| store.list(&list_query).await.map(|page| page.items.len());
    assert_eq!(count(filter("at", Op::Gte, json!("2026-11-23T09:00:00Z"))).await.unwrap(), 1);
    assert_eq!(count(filter("at", Op::Lt, json!("2026-11-23T09:00:00Z"))).await.unwrap(), 0);
    assert_eq!(count(filter("state", Op::Eq, json!("new"))).await.unwrap(), 1);
    assert!(is_invalid(&count(filter("at", Op::Lt, json!("not a time"))).await));
    assert!(is_invalid(&count(filter("state", Op::Eq, json!("lost"))).await));

    // No row has such an id.
    let no_id = "not a uuid".to_owned();
    assert_eq!(store.get(&no_id, &RowFilter::all()).await.unwrap(), None);
    let missing = store.delete(&no_id, VersionCheck::Any, &RowFilter::all()).await;
    assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
    let missing =
        store.replace(&no_id, order("new", 1), VersionCheck::Any, &RowFilter::all()).await;
    assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn rejects_values_that_postgres_does_not_support() {
    let store = items(&few()).await;
    let Err(StoreError::Invalid(errors)) = store.create(draft("a\0b", 1, "ada")).await else {
        panic!("PostgreSQL text cannot contain U+0000");
    };
    assert_eq!(errors[0].field, "name");
    let filter = Filter { field: "name".to_owned(), op: Op::Eq, values: vec![json!("a\0b")] };
    let outcome = store.list(&ListQuery { filters: vec![filter], ..ListQuery::new("id", 1) }).await;
    assert!(matches!(outcome, Err(StoreError::Invalid(_))), "{outcome:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn reports_all_differences_together() {
    let (db, schema) = schema(&few()).await;
    let create = format!(
        "CREATE TABLE {schema}.items (id int, name varchar(9) NOT NULL, price text NOT NULL,
            rating float8 NOT NULL, category text NOT NULL, open int NOT NULL, owner text,
            tags text[] NOT NULL, secret text NOT NULL)"
    );
    db.client().await.unwrap().batch_execute(&create).await.unwrap();
    let error = db.table::<crate::item::Item>(&format!("{schema}.items")).await.unwrap_err();
    let found: Vec<_> = error
        .issues()
        .iter()
        .map(|mistake| mistake.message().trim_start_matches(&*schema).to_owned())
        .collect();
    let expected = [
        ".items.price: text cannot store every integer",
        ".items.category: NOT NULL, but the field can be null",
        ".items.open: int4 cannot store every boolean",
        ".items.owner: must be NOT NULL, because the field is never null",
        ".items.tags: must have a default, because the field can be absent",
        ".items.extra: the column does not exist",
        ".items.version: the column does not exist; add it as an integer, NOT NULL, with a \
         default of 1",
        ".items.secret: NOT NULL without a default, but no field has this name",
        ".items.id: must be the primary key or unique by itself",
    ];
    assert_eq!(found, expected);
    let error = db.table::<crate::item::Item>("no \"such' table").await.unwrap_err();
    assert_eq!(error.to_string(), "no \"such' table: the table does not exist");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn a_late_statement_and_an_empty_pool_are_unavailable() {
    let second = Duration::from_secs(1);
    let options = few().pool(1).wait(second / 10).statement_timeout(second / 5);
    let (db, _) = schema(&options).await;
    let sleep = || Statement::reading("SELECT pg_sleep(9)::text, 0::bigint", "{}");
    let begun = Instant::now();
    let late = db.run(sleep()).await.unwrap_err();
    assert!(matches!(late, SqlError::Unavailable { .. }), "{late}");
    assert!(begun.elapsed() < second, "{:?}", begun.elapsed());
    let held = db.client().await.unwrap();
    let error = db.run(sleep()).await.unwrap_err();
    assert!(matches!(error, SqlError::Unavailable { .. }), "{error}");
    assert_eq!(ApiError::from(error).status(), 503);
    drop(held);
    let rows = db.run(Statement::reading("SELECT '{}', 7::bigint", "{}")).await.unwrap();
    assert_eq!(rows[0].number, 7);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn prepared_statements_of_clients_are_bounded() {
    let (db, _) = schema(&few().pool(1)).await;
    for number in 0..600_i64 {
        let statement = Statement::reading(format!("SELECT '{{}}', {number}::bigint"), "{}");
        assert_eq!(db.run(statement).await.unwrap()[0].number, number);
    }
    let client = db.client().await.unwrap();
    let sql = "SELECT count(*) FROM pg_prepared_statements";
    let count: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
    assert!(count <= 257, "{count}");
}

/// Two transactions deadlock, and one of them is retried.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn a_conflict_is_retried() {
    let (db, schema) = schema(&few()).await;
    let store = table::<crate::item::Item>(&db, &format!("{schema}.items"), |sql| sql).await;
    let (one, two) = (store.create(draft("a", 1, "ada")), store.create(draft("b", 1, "ada")));
    let (one, two) = (one.await.unwrap().value.id, two.await.unwrap().value.id);
    let mut client = db.client().await.unwrap();
    let tx = client.transaction().await.unwrap();
    let lock = |id: i64| format!("UPDATE {schema}.items SET price = 5 WHERE id = {id}");
    tx.batch_execute(&lock(one)).await.unwrap();
    // A driver's statement is one transaction. This one locks the second row
    // first.
    let both = format!(
        "WITH first AS (UPDATE {schema}.items SET price = 6 WHERE id = {two} RETURNING id)
        UPDATE {schema}.items SET price = 7 FROM first WHERE items.id = {one}
        RETURNING '{{}}', price::bigint"
    );
    let other = tokio::spawn({
        let db = db.clone();
        async move { db.run(Statement::writing(both, "{}")).await }
    });
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%{schema}.%'"
    );
    let watcher = db.client().await.unwrap();
    while watcher.query_one(&waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    let mine = tx.batch_execute(&lock(two)).await;
    let theirs = match mine {
        Ok(()) => {
            tx.commit().await.unwrap();
            other.await.unwrap().map(drop)
        }
        Err(error) => {
            drop(tx);
            other.await.unwrap().unwrap();
            Err(error.into())
        }
    };
    assert!(matches!(theirs, Err(SqlError::Conflict(_))), "{theirs:?}");
}

/// A driver with conflicts in its first statements.
#[derive(Clone)]
struct Losing(Postgres, std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl stockade_sql::Driver for Losing {
    fn dialect(&self) -> stockade_sql::Dialect {
        self.0.dialect()
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<stockade_sql::Row>, SqlError>> {
        Box::pin(async move {
            let count = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // The first statement describes the table.
            if (1..=3).contains(&count) {
                return Err(SqlError::Conflict("40001".into()));
            }
            self.0.run(statement).await
        })
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn a_statement_is_tried_four_times() {
    let (db, schema) = schema(&few()).await;
    let name = format!("{schema}.items");
    drop(table::<crate::item::Item>(&db, &name, |sql| sql).await);
    let driver = Losing(db, std::sync::Arc::default());
    let store = stockade_sql::SqlStore::<crate::item::Item, _>::open(driver, &name).await.unwrap();
    store.create(draft("a", 1, "ada")).await.unwrap();
}

/// Runs the script that starts and kills the server.
fn control(verb: &str) -> bool {
    let script = std::env::var("STOCKADE_POSTGRES_CONTROL").unwrap();
    Command::new(script).arg(verb).status().unwrap().success()
}

/// Runs separately, because the other tests need the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a PostgreSQL that it may kill: cargo xtask sql"]
async fn outage() {
    let store = items(&few()).await;
    let id = store.create(draft("a", 1, "ada")).await.unwrap().value.id;
    assert!(control("kill"));
    // The server's connection processes stop shortly after the server.
    let noticed = async { while store.get(&id, &RowFilter::all()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), noticed).await.unwrap();
    for _ in 0..20 {
        let outcome = store.get(&id, &RowFilter::all()).await;
        assert!(matches!(outcome, Err(StoreError::Busy { .. })), "{outcome:?}");
        let outcome = store.create(draft("b", 1, "ada")).await;
        assert!(matches!(outcome, Err(StoreError::Busy { .. })), "{outcome:?}");
    }
    assert!(control("start"));
    let got = store.get(&id, &RowFilter::all()).await.unwrap().unwrap();
    assert_eq!(got.value.name, "a");
    store.create(draft("b", 1, "ada")).await.unwrap();
}
