//! Tests sessions, idempotency keys and revocations in tables with SQLite,
//! PostgreSQL and a custom driver.

mod idempotency;
mod opening;
mod revocations;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use stockade_sql::{Driver, MIGRATIONS, Row, Sqlite, Statement, rusqlite};
use tempfile::TempDir;

use crate::engines::OneConnection;

/// A clock that a test controls. Clones share the time.
#[derive(Clone)]
pub(crate) struct TestClock {
    begin: Instant,
    millis: Arc<AtomicU64>,
}

impl TestClock {
    pub(crate) fn new() -> Self {
        Self { begin: Instant::now(), millis: Arc::default() }
    }

    pub(crate) fn advance(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn source(&self) -> impl Fn() -> Instant + Send + Sync + 'static {
        let Self { begin, millis } = self.clone();
        move || begin + Duration::from_millis(millis.load(Ordering::SeqCst))
    }
}

/// A SQLite file with the tables.
pub(crate) struct File {
    pub(crate) db: Sqlite,
    folder: TempDir,
}

impl File {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Sqlite::open(folder.path().join("stores.db")).unwrap();
        db.execute(MIGRATIONS).await.unwrap();
        Self { db, folder }
    }

    /// Opens the file again, like another process.
    pub(crate) fn reopen(&self) -> Sqlite {
        Sqlite::open(self.folder.path().join("stores.db")).unwrap()
    }
}

/// Returns a custom driver, with the tables.
pub(crate) fn own() -> OneConnection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(MIGRATIONS).unwrap();
    OneConnection::new(connection)
}

/// Returns the number of rows in a table.
pub(crate) async fn count(db: &impl Driver, table: &str) -> i64 {
    let sql = format!("SELECT '', CAST(count(*) AS bigint) FROM {table}");
    let rows: Vec<Row> = db.run(Statement::reading(sql, "{}")).await.unwrap();
    rows[0].number
}

#[cfg(feature = "postgres")]
pub(crate) mod postgres {
    use stockade_sql::{MIGRATIONS, Postgres, PostgresOptions};

    use crate::engines::postgres::schema;

    /// Returns pools on a new schema with the tables, one for each process.
    pub(crate) async fn pools<const N: usize>() -> [Postgres; N] {
        let options = PostgresOptions::new().pool(8);
        let (first, schema) = schema(&options).await;
        drop(first);
        let address = std::env::var("STOCKADE_POSTGRES").unwrap();
        let address = format!("{address} options='-c search_path={schema}'");
        let mut pools = Vec::new();
        for _ in 0..N {
            pools.push(Postgres::connect_with(&address, &options).await.unwrap());
        }
        pools[0].execute(MIGRATIONS).await.unwrap();
        pools.try_into().unwrap()
    }
}
