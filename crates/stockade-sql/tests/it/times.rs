//! Tests that every store sorts, filters and paginates by time rather than by
//! text.

use chrono::{DateTime, FixedOffset};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_rest::{
    Direction, Entity, Filter, ListQuery, MemoryStore, NewRow, Op, Sort, Store, StoreError,
};
use stockade_validation::Schema;
use tokio::runtime::Runtime;

use crate::engines;

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Event {
    id: i64,
    at: Timestamp,
    local: DateTime<FixedOffset>,
    #[schema(format = "date-time")]
    told: String,
    /// A unique time.
    #[schema(format = "date-time")]
    once: Option<String>,
}

impl Entity for Event {
    type Id = i64;
}

const UNIQUE: &str = "CREATE UNIQUE INDEX items_once ON {} (once);";
const FIELDS: [&str; 3] = ["at", "local", "told"];

/// A time in microseconds, and a text that represents it.
#[derive(Clone, Debug)]
struct Spelled {
    micros: i64,
    text: String,
}

/// Times in two seconds around a new year, so many are equal or close.
fn spelled() -> impl Strategy<Value = Spelled> {
    const NEW_YEAR: i64 = 1_767_225_600;
    let fraction = select(vec![0, 1, 10, 100, 120, 123_456, 500_000, 500_001, 900_000, 999_999]);
    let offset = prop_oneof![Just(0), Just(60), Just(-60), Just(345), -1_439_i64..=1_439];
    (-1_i64..=1, fraction, offset, 0_usize..4, any::<bool>()).prop_map(
        |(second, fraction, offset, zeros, is_zulu)| {
            let micros = (NEW_YEAR + second) * 1_000_000 + fraction;
            let offset = if is_zulu { 0 } else { offset };
            let local = Timestamp::from_microsecond(micros).unwrap();
            let local = local + SignedDuration::from_mins(offset);
            let text = local.strftime("%Y-%m-%dT%H:%M:%S").to_string();
            let digits = format!("{fraction:06}");
            let digits = digits.trim_end_matches('0');
            let digits = format!("{digits}{}", "0".repeat(zeros.min(6 - digits.len())));
            let fraction = if digits.is_empty() { digits } else { format!(".{digits}") };
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs());
            let offset = match is_zulu {
                true => "Z".to_owned(),
                false => format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
            };
            Spelled { micros, text: format!("{text}{fraction}{offset}") }
        },
    )
}

fn sorted_by(field: &str, direction: Direction) -> Vec<Sort> {
    let sort = |field: &str| Sort { field: field.to_owned(), direction };
    vec![sort(field), sort("id")]
}

/// Returns the ids of all pages of a query, with two items per page.
async fn ids(store: &impl Store<Event>, mut query: ListQuery) -> Vec<i64> {
    let mut ids = Vec::new();
    loop {
        let page = store.list(&query).await.unwrap();
        ids.extend(page.items.iter().map(|item| item.value.id));
        match page.items.last() {
            Some(last) if page.more => {
                let last = serde_json::to_value(&last.value).unwrap();
                let keys = query.sorts.iter().map(|sort| last[&sort.field].clone());
                query.after = Some(keys.collect());
            }
            _ => return ids,
        }
    }
}

async fn compare(store: &impl Store<Event>, times: &[Spelled], probe: &Spelled) {
    let mut rows: Vec<(i64, i64)> = Vec::new();
    let mut taken = Vec::new();
    for time in times {
        let mut new = NewRow::<Event>::new(FIELDS.map(|field| (field, json!(time.text))));
        new.set("once", time.text.clone());
        if taken.contains(&time.micros) {
            let refused = store.create(new.clone()).await;
            let is_taken = matches!(&refused, Err(StoreError::Taken { field }) if field == "once");
            assert!(is_taken, "{time:?} {refused:?}");
            new.set("once", Value::Null);
        }
        taken.push(time.micros);
        rows.push((time.micros, store.create(new).await.unwrap().value.id));
    }
    for field in FIELDS {
        for direction in [Direction::Ascending, Direction::Descending] {
            rows.sort_unstable();
            if direction == Direction::Descending {
                rows.reverse();
            }
            let query = ListQuery { sorts: sorted_by(field, direction), ..ListQuery::new("id", 2) };
            let expected: Vec<i64> = rows.iter().map(|(_, id)| *id).collect();
            assert_eq!(
                ids(store, query.clone()).await,
                expected,
                "{field} {direction:?} {times:?}"
            );
            for op in [Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte] {
                let passes = |(micros, _): &&(i64, i64)| match op {
                    Op::Eq => *micros == probe.micros,
                    Op::Lt => *micros < probe.micros,
                    Op::Lte => *micros <= probe.micros,
                    Op::Gt => *micros > probe.micros,
                    _ => *micros >= probe.micros,
                };
                let expected: Vec<i64> = rows.iter().filter(passes).map(|(_, id)| *id).collect();
                let values = vec![json!(probe.text)];
                let filters = vec![Filter { field: field.to_owned(), op, values }];
                let found = ids(store, ListQuery { filters, ..query.clone() }).await;
                assert_eq!(found, expected, "{field} {op} {probe:?} {direction:?} {times:?}");
            }
        }
    }
}

/// Compares stores with numeric order, over generated times.
fn check<S: Store<Event>>(runtime: &Runtime, cases: u32, make: impl AsyncFn() -> S) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, seed);
    let input = (proptest::collection::vec(spelled(), 1..12), spelled());
    let outcome = runner.run(&input, |(times, probe)| {
        runtime.block_on(async { compare(&make().await, &times, &probe).await });
        Ok(())
    });
    outcome.unwrap();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn memory_compares_times() {
    check(&runtime(), 200, async || MemoryStore::new().unique("once"));
}

#[test]
fn sqlite_compares_times() {
    let engines = std::sync::Mutex::new(Vec::new());
    check(&runtime(), 25, async || {
        let engine = engines::sqlite_of::<Event>(&UNIQUE.replace("{}", "items")).await;
        let store = engine.store.clone();
        engines.lock().unwrap().push(engine);
        store
    });
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
fn postgres_compares_times() {
    use crate::engines::postgres::{schema, table};
    use stockade_sql::PostgresOptions;

    let runtime = runtime();
    // One connection: each case creates a table in a separate schema.
    let options = PostgresOptions::new().pool(1);
    let (db, schema) = runtime.block_on(schema(&options));
    check(&runtime, 25, async || {
        let name = format!("{schema}.items");
        let unique = UNIQUE.replace("{}", &name);
        let drop = format!("DROP TABLE IF EXISTS {name};");
        table::<Event>(&db, &name, |create| format!("{drop} {create} {unique}")).await
    });
}

/// The connection's time zone offset has no effect.
#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_writes_times_in_utc() {
    use crate::engines::postgres::{few, schema, table};

    let (db, schema) = schema(&few().pool(1)).await;
    let zone = "SET TIME ZONE 'Asia/Kathmandu'";
    db.client().await.unwrap().batch_execute(zone).await.unwrap();
    let store = table::<Event>(&db, &format!("{schema}.items"), |sql| sql).await;
    let text = "2026-01-01T00:00:00.25+05:45";
    let new = NewRow::<Event>::new(FIELDS.map(|field| (field, json!(text))));
    let made = store.create(new).await.unwrap().value;
    assert_eq!(made.told, "2025-12-31T18:15:00.25+00:00");
    assert_eq!(made.once, None);
}

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Price {
    id: i64,
    price: Decimal,
}

impl Entity for Price {
    type Id = i64;
}

/// SQLite cannot order decimals.
async fn decimals_are_compared_as_numbers(store: impl Store<Price>) {
    let prices = ["10", "9.5", "-1.55", "-1.5", "0.05", "1e3", "+2.50", "100", "0"];
    for price in prices {
        store.create(NewRow::new([("price", json!(price))])).await.unwrap();
    }
    let list = async |query: &ListQuery| -> Vec<String> {
        let items = store.list(query).await.unwrap().items.into_iter();
        items.map(|item| item.value.price.to_string()).collect()
    };
    let sort = |field: &str| Sort { field: field.to_owned(), direction: Direction::Ascending };
    let mut query =
        ListQuery { sorts: vec![sort("price"), sort("id")], ..ListQuery::new("id", 20) };
    let all = ["-1.55", "-1.5", "0", "0.05", "2.50", "9.5", "10", "100", "1000"];
    assert_eq!(list(&query).await, all);
    query.after = Some(vec![json!("9.50"), json!(99)]);
    assert_eq!(list(&query).await, ["10", "100", "1000"]);
    query.after = None;
    for (op, value, expected) in [
        (Op::Eq, json!("2.5"), &["2.50"][..]),
        (Op::Eq, json!(2.5), &["2.50"]),
        (Op::Lt, json!("-1.5"), &["-1.55"]),
        (Op::Gte, json!("99.99"), &["100", "1000"]),
    ] {
        query.filters = vec![Filter { field: "price".to_owned(), op, values: vec![value] }];
        assert_eq!(list(&query).await, expected, "{op}");
    }
}

#[tokio::test]
async fn memory_compares_decimals() {
    decimals_are_compared_as_numbers(MemoryStore::new()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_compares_decimals() {
    let store = engines::postgres::table_of::<Price>("").await;
    decimals_are_compared_as_numbers(store).await;
}
