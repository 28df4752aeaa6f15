//! Tests that need many rounds or a clock. They run in a short form, and in
//! full with `cargo xtask sql --long`, which prints the figures.

mod http;

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde_json::{Value, json};
use stockade_rest::{
    Direction, ListQuery, NewRow, RowFilter, Sort, Store, StoreError, VersionCheck,
};
use stockade_sql::rusqlite::{Connection, OptionalExtension as _, Row, params};
use stockade_sql::{SqlError, SqlStore, Sqlite};
use tokio::task::{JoinSet, spawn_blocking};

use crate::engines::{self, Items};
use crate::item::{Item, draft};

/// Returns the number for the long or the short form.
fn rounds(long: u32, short: u32) -> u32 {
    if is_long() { long } else { short }
}

fn is_long() -> bool {
    env::var_os("STOCKADE_SQL_LONG").is_some()
}

const CHILD: &str = "STOCKADE_SQL_CHILD";

/// Another process, which writes continuously and prints each id when its write
/// returns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a parent that kills it: cargo xtask sql"]
async fn child() {
    let path = env::var_os(CHILD).unwrap();
    let store = Sqlite::open(path).unwrap().table::<Item>("items").unwrap();
    let base = std::process::id();
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let store = store.clone();
        clients.spawn(async move {
            for number in 0.. {
                let name = format!("{base} {client} {number}");
                let made = store.create(draft(&name, 1, "ada")).await.unwrap();
                println!("\nkept {}", made.value.id);
                let changed = NewRow::<Item>::new([("price", json!(2))]);
                let all = RowFilter::all();
                store.replace(&made.value.id, changed, VersionCheck::Any, &all).await.unwrap();
                println!("\nchanged {}", made.value.id);
            }
        });
    }
    clients.join_all().await;
}

/// Runs the other process, kills it after some responses, and returns them.
fn killed(path: &Path, answers: usize) -> Vec<String> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "long::child", "--ignored", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_answer = |line: &String| line.starts_with("kept ") || line.starts_with("changed ");
    let mut found: Vec<String> =
        lines.by_ref().map_while(Result::ok).filter(is_answer).take(answers).collect();
    // Sends SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    // The remaining output. The last line may be cut off.
    let mut rest: Vec<String> = lines.map_while(Result::ok).filter(is_answer).collect();
    rest.pop();
    found.extend(rest);
    found
}

#[tokio::test]
async fn a_kill_loses_no_confirmed_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.db");
    let db = Sqlite::open(&path).unwrap();
    let table = db.create_table_sql::<Item>("items").unwrap();
    db.write(move |tx| -> Result<(), SqlError> { Ok(tx.execute_batch(&table)?) }).await.unwrap();
    drop(db);
    let (mut kept, mut changed) = (BTreeSet::new(), BTreeSet::new());
    let count = rounds(200, 4);
    for round in 0..count {
        for line in killed(&path, 5 + (round as usize * 37) % 200) {
            let (verb, id) = line.split_once(' ').unwrap();
            let id: i64 = id.parse().unwrap();
            if verb == "kept" {
                kept.insert(id)
            } else {
                changed.insert(id)
            };
        }
    }
    let connection = Connection::open(&path).unwrap();
    let ids = |price: u32| -> BTreeSet<i64> {
        let mut select = connection.prepare("SELECT id FROM items WHERE price >= ?1").unwrap();
        let ids = select.query_map([price], |row| row.get(0)).unwrap();
        ids.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(kept.difference(&ids(1)).count(), 0);
    assert_eq!(changed.difference(&ids(2)).count(), 0);
    let sound: String =
        connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    println!(
        "kill -9: {count} rounds, {} rows and {} changes, none lost",
        kept.len(),
        changed.len()
    );
}

/// Many clients change one field of a few rows, each with the version that it
/// read.
async fn patch(name: &str, store: impl Items) {
    const ROWS: u32 = 100;
    const CLIENTS: u32 = 64;
    let changes = rounds(100_000, 1_280);
    let store = Arc::new(store);
    let mut ids = Vec::new();
    for row in 0..ROWS {
        ids.push(store.create(draft(&row.to_string(), 0, "ada")).await.unwrap().value.id);
    }
    let begun = Instant::now();
    let ids = Arc::new(ids);
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (store, ids) = (Arc::clone(&store), Arc::clone(&ids));
        let own = changes / CLIENTS + u32::from(client < changes % CLIENTS);
        clients.spawn(async move {
            let mut again = 0_u32;
            for change in 0..own {
                let id = ids[((client * 31 + change * 17) % ROWS) as usize];
                loop {
                    let old = store.get(&id, &RowFilter::all()).await.unwrap().unwrap();
                    let new = NewRow::<Item>::new([("price", json!(old.value.price + 1))]);
                    let expected = VersionCheck::Version(old.version);
                    match store.replace(&id, new, expected, &RowFilter::all()).await {
                        Ok(_) => break,
                        Err(StoreError::Changed) => again += 1,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
            again
        });
    }
    let again: u32 = clients.join_all().await.iter().sum();
    let items = store.list(&ListQuery::new("id", 1_000)).await.unwrap().items;
    assert_eq!(items.iter().map(|item| item.value.price).sum::<u32>(), changes);
    let time = begun.elapsed();
    println!("{name}: {changes} changes of {ROWS} rows, 0 lost, {again} repeated, {time:.1?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_is_lost_in_memory() {
    patch("memory", engines::memory().store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_is_lost_in_sqlite() {
    let engine = engines::sqlite().await;
    patch("sqlite", engine.store).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn no_change_is_lost_in_postgres() {
    let options = stockade_sql::PostgresOptions::new();
    // Clients may wait longer for a connection than a request would.
    let options = options.wait(Duration::from_secs(60)).statement_timeout(Duration::from_secs(60));
    patch("postgres", engines::postgres::items(&options).await).await;
}

/// Returns the time for a page that starts after these keys.
async fn time_of_page(store: &impl Items, after: Option<Vec<Value>>) -> Duration {
    let sort = |field: &str| Sort { field: field.to_owned(), direction: Direction::Ascending };
    let query =
        ListQuery { sorts: vec![sort("price"), sort("id")], after, ..ListQuery::new("id", 20) };
    let begun = Instant::now();
    assert_eq!(store.list(&query).await.unwrap().items.len(), 20);
    begun.elapsed()
}

/// Compares the median times of the first page and a page at the end. They
/// alternate, so other load on the machine affects both.
async fn compare_pages(name: &str, store: &impl Items, rows: u32) {
    let last = Some(vec![json!((rows - 21) / 10), json!(rows - 21)]);
    let (mut first, mut deep) = (Vec::new(), Vec::new());
    for round in 0..rounds(2_000, 100) {
        let times = (time_of_page(store, None).await, time_of_page(store, last.clone()).await);
        // The first rounds are slower, until both pages are in memory.
        if round >= 50 {
            first.push(times.0);
            deep.push(times.1);
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (first, deep) = (median(first), median(deep));
    let ratio = deep.as_secs_f64() / first.as_secs_f64();
    println!("{name}: a page at row 1 {first:.1?}, at row {rows} {deep:.1?}, ratio {ratio:.2}");
    // The target is 1.2, with some tolerance. OFFSET would take a thousand
    // times as long.
    assert!(!is_long() || ratio < 1.5, "{ratio}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_page_costs_as_much_as_the_first_in_sqlite() {
    let rows = rounds(1_000_000, 2_000);
    let folder = tempfile::tempdir().unwrap();
    let options = stockade_sql::SqliteOptions::new().statement_timeout(Duration::from_secs(600));
    let db = Sqlite::open_with(folder.path().join("items.db"), &options).unwrap();
    let table = db.create_table_sql::<Item>("items").unwrap();
    let fill = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
        INSERT INTO items (id, name, price, rating, open, owner, tags)
            SELECT i, 'item ' || i, i / 10, 1.5, 1, 'ada', '[]' FROM n;
        CREATE INDEX items_price ON items (price, id);"
    );
    db.write(move |tx| -> Result<(), SqlError> {
        Ok(tx.execute_batch(&format!("{table} {fill}"))?)
    })
    .await
    .unwrap();
    compare_pages("sqlite", &db.table::<Item>("items").unwrap(), rows).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn a_late_page_costs_as_much_as_the_first_in_postgres() {
    let rows = rounds(1_000_000, 2_000);
    let options = stockade_sql::PostgresOptions::new().statement_timeout(Duration::from_secs(600));
    let (db, schema) = engines::postgres::schema(&options).await;
    let name = format!("{schema}.items");
    let store: SqlStore<Item, _> = engines::postgres::table(&db, &name, |sql| sql).await;
    let fill = format!(
        "INSERT INTO {name} (id, name, price, rating, open, owner, tags)
            SELECT i, 'item ' || i, i / 10, 1.5, true, 'ada', '[]' FROM generate_series(1, {rows}) i;
        CREATE INDEX ON {name} (price, id); ANALYZE {name};"
    );
    db.client().await.unwrap().batch_execute(&fill).await.unwrap();
    compare_pages("postgres", &store, rows).await;
}

/// Compares writes of 64 clients with one manual transaction per write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_share_their_commits() {
    let folder = tempfile::tempdir().unwrap();
    let by_hand = Connection::open(folder.path().join("by_hand.db")).unwrap();
    let table = stockade_sql::create_table_sql::<Item>(stockade_sql::Dialect::Sqlite, "items");
    by_hand
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {}",
            table.unwrap()
        ))
        .unwrap();
    let count = rounds(2_000, 50);
    let begun = Instant::now();
    for number in 0..count {
        let insert = "INSERT INTO items (name, price, rating, open, owner, tags)
            VALUES (?1, 1, 1.5, 1, 'ada', '[]') RETURNING id";
        let mut insert = by_hand.prepare_cached(insert).unwrap();
        insert.query_row([number.to_string()], |row| row.get::<_, i64>(0)).unwrap();
    }
    let each = f64::from(count) / begun.elapsed().as_secs_f64();

    let engine = engines::sqlite().await;
    let store = Arc::new(engine.store);
    let writes = rounds(64 * 500, 64 * 5);
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..64_u32 {
        let store = Arc::clone(&store);
        clients.spawn(async move {
            for number in 0..writes / 64 {
                store.create(draft(&format!("{client} {number}"), 1, "ada")).await.unwrap();
            }
        });
    }
    clients.join_all().await;
    let together = f64::from(writes) / begun.elapsed().as_secs_f64();
    let ratio = together / each;
    println!("writes: {each:.0}/s one by one, {together:.0}/s of 64 clients, ratio {ratio:.1}");
}

/// Reads one row by its id: CPU time of the store, and of rusqlite on a
/// blocking thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_costs_little_more_than_handwritten_code() {
    let engine = engines::sqlite().await;
    for number in 0..1_000 {
        engine.store.create(draft(&number.to_string(), 1, "ada")).await.unwrap();
    }
    let by_hand = Connection::open(engine.path()).unwrap();
    let by_hand = Arc::new(std::sync::Mutex::new(by_hand));
    let count = i64::from(rounds(20_000, 200));
    let mut ratios = Vec::new();
    for _ in 0..rounds(9, 1) {
        let begun = ProcessTime::now();
        for id in 0..count {
            let found = engine.store.get(&(id % 1_000 + 1), &RowFilter::all()).await.unwrap();
            assert!(found.is_some());
        }
        let store = begun.elapsed();
        let begun = ProcessTime::now();
        for id in 0..count {
            let by_hand = Arc::clone(&by_hand);
            let found =
                spawn_blocking(move || read_by_hand(&by_hand.lock().unwrap(), id % 1_000 + 1));
            assert!(found.await.unwrap().is_some());
        }
        ratios.push(store.as_secs_f64() / begun.elapsed().as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!("a row by its id: {:.2} times the CPU of rusqlite by hand", ratios[ratios.len() / 2]);
}

fn read_by_hand(connection: &Connection, id: i64) -> Option<(Item, i64)> {
    let select = "SELECT id, name, price, rating, category, open, owner, tags, extra, version
        FROM items WHERE id = ?1";
    let mut select = connection.prepare_cached(select).unwrap();
    let read = |row: &Row<'_>| {
        let tags: String = row.get(7)?;
        let extra: Option<String> = row.get(8)?;
        let item = Item {
            id: row.get(0)?,
            name: row.get(1)?,
            price: row.get(2)?,
            rating: row.get(3)?,
            category: row.get(4)?,
            open: row.get(5)?,
            owner: row.get(6)?,
            tags: serde_json::from_str(&tags).unwrap(),
            extra: extra.map(|extra| serde_json::from_str(&extra).unwrap()),
        };
        Ok((item, row.get(9)?))
    };
    select.query_row(params![id], read).optional().unwrap()
}
