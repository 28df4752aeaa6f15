//! The database: one SQLite file, a pool of connections to it, and migrations.

use std::fs::OpenOptions;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Pool, PoolError, RecycleError, RecycleResult};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use stockade::{ApiError, BoxError};
use tokio::task::spawn_blocking;

use crate::errors::{ConduitError, Result};

/// The steps that make the tables, oldest first. A step that a release had is
/// never changed: a new one comes behind it.
pub const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/1_tables.sql"),
    include_str!("../migrations/2_indexes.sql"),
    include_str!("../migrations/3_sessions.sql"),
    include_str!("../migrations/4_favorites.sql"),
];

/// The time that a connection waits for the lock of another one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that one call may take from when it has a connection: a statement that
/// is slower ends, so that a few of them cannot hold all connections. A writer that
/// had to wait for the lock has less of it left.
const WORK_TIMEOUT: Duration = Duration::from_secs(1);

/// The most pages of 4 KiB that the file may have: 4 GiB. Accounts cost nothing, so
/// that no limit of an account keeps the disk from being filled.
pub const MAX_PAGES: u32 = 1 << 20;

/// The bytes to which the journal shrinks again after a large transaction.
const JOURNAL_SIZE: u32 = 64 << 20;

/// A pool of connections. Each call of [`read`](Self::read) and
/// [`write`](Self::write) is one transaction.
#[derive(Clone, Debug)]
pub struct Db {
    pool: Pool<Connections>,
}

impl Db {
    /// Opens the file, or makes it, and brings its tables up to date.
    ///
    /// At most `size` calls run at a time; others wait, at most for `wait`.
    pub fn open(path: &Path, size: usize, wait: Duration) -> Result<Self, BoxError> {
        create(path)?;
        let mut connection = connect(path)?;
        // Kept in the file: readers and the writer do not wait for each other.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        migrate(&mut connection, MIGRATIONS)?;
        Self::unopened(path, size, wait)
    }

    /// Makes the pool alone, which opens the file when it is used.
    pub fn unopened(path: &Path, size: usize, wait: Duration) -> Result<Self, BoxError> {
        let pool = Pool::builder(Connections { path: path.to_owned() })
            .max_size(size)
            .wait_timeout(Some(wait))
            .runtime(Runtime::Tokio1)
            .build()?;
        Ok(Self { pool })
    }

    /// Runs `work` on one state of the database, which no writer changes.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    /// Runs `work` as the only writer. Everything that it writes is kept if it
    /// succeeds, and nothing if it fails or panics.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // A transaction that reads first and becomes a writer later can fail
        // without waiting, when another one has written in between.
        self.run(TransactionBehavior::Immediate, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut connection = self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(_) => ConduitError::Busy,
            error => ApiError::internal(error).into(),
        })?;
        // The connection moves along, so that it is back in the pool when the
        // work is done, also when the request is gone before that.
        let done = spawn_blocking(move || {
            let started = Instant::now();
            // Asked after each 10,000 steps of SQLite, which are less than a millisecond.
            connection.progress_handler(10_000, Some(move || started.elapsed() > WORK_TIMEOUT))?;
            let tx = connection.transaction_with_behavior(behavior)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        });
        done.await?
    }
}

/// The maker of connections, for the pool.
#[derive(Debug)]
pub struct Connections {
    path: PathBuf,
}

impl Manager for Connections {
    type Type = Connection;
    type Error = ConduitError;

    async fn create(&self) -> Result<Connection> {
        let path = self.path.clone();
        Ok(spawn_blocking(move || connect(&path)).await??)
    }

    async fn recycle(
        &self,
        connection: &mut Connection,
        _: &Metrics,
    ) -> RecycleResult<ConduitError> {
        if !connection.is_autocommit() {
            return Err(RecycleError::message("a transaction is open"));
        }
        Ok(())
    }
}

/// Makes the file, if it is not there, for its owner alone: it has the hashes of
/// the passwords. SQLite gives its other files the same mode.
fn create(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path)?;
    Ok(())
}

/// Opens a connection with the settings that SQLite keeps for each.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // With WAL a crash of the machine may lose the last commits, and breaks nothing.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "max_page_count", MAX_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_SIZE)?;
    Ok(connection)
}

/// Runs the steps that this file has not seen, all or none of them.
pub fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), BoxError> {
    // Of several processes that start at once, the others wait here.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done: usize = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let new = steps.get(done..).ok_or("the database is newer than this program")?;
    for step in new {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", steps.len())?;
    Ok(transaction.commit()?)
}
