//! The database: one SQLite file, the migrations of its tables, and rows as JSON.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use stockade::extract::State;
use stockade::sql::rusqlite::{Connection, OptionalExtension as _, Params};
use stockade::sql::{SqlError, Sqlite, SqliteOptions};
use stockade::{ApiError, serde_json};

use crate::errors::Result;

/// The argument of request handlers. Each `read` and each `write` is one transaction.
pub type Db = State<Sqlite>;

/// The steps that create the tables, oldest first. Never change a released step:
/// append a new one.
pub const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/1_tables.sql"),
    include_str!("../migrations/2_indexes.sql"),
    include_str!("../migrations/3_sessions.sql"),
    include_str!("../migrations/4_favorites.sql"),
];

/// The maximum time that a write waits for another process that writes to the
/// file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum time of one `read` or `write`. A slower statement is
/// interrupted, so a few of them cannot block all others.
const WORK_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum number of pages of 4 KiB in the file: 4 GiB. Anyone can create
/// accounts, so a limit per account would not keep the disk from filling up.
pub const MAX_PAGES: u32 = 1 << 20;

/// The size in bytes that the journal shrinks to after a large transaction.
const JOURNAL_SIZE: u32 = 64 << 20;

/// Opens or creates the file, and brings its tables up to date.
pub async fn open(path: &Path, options: SqliteOptions) -> Result<Sqlite, SqlError> {
    let options = options.busy_timeout(LOCK_TIMEOUT);
    // A migration may take as long as it needs.
    let patient = options.clone().statement_timeout(Duration::MAX);
    Sqlite::open_with(path, &patient)?.write(|tx| migrate(tx, MIGRATIONS)).await?;
    let db = Sqlite::open_with(path, &options.statement_timeout(WORK_TIMEOUT))?;
    // Settings of the only connection that writes.
    db.write(|tx| {
        tx.pragma_update(None, "max_page_count", MAX_PAGES)?;
        Ok::<_, SqlError>(tx.pragma_update(None, "journal_size_limit", JOURNAL_SIZE)?)
    })
    .await?;
    Ok(db)
}

/// Runs the new steps on this file. The caller commits all of them or none.
pub fn migrate(tx: &Connection, steps: &[&str]) -> Result<(), SqlError> {
    let done: u32 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let is_newer = || SqlError::failed("the database is newer than this program");
    for step in steps.get(done as usize..).ok_or_else(is_newer)? {
        tx.execute_batch(step)?;
    }
    Ok(tx.pragma_update(None, "user_version", steps.len() as u32)?)
}

/// Reads the first row of a statement with one column of JSON.
pub fn read_json<T: DeserializeOwned>(
    tx: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Option<T>> {
    let mut statement = tx.prepare_cached(sql)?;
    let json: Option<String> = statement.query_row(params, |row| row.get(0)).optional()?;
    let value = json.map(|json| serde_json::from_str(&json)).transpose();
    Ok(value.map_err(ApiError::internal)?)
}
