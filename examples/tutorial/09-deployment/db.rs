//! The database file and the steps that create its tables.

use stockade::sql::{SqlError, Sqlite};

/// The steps that create the tables, oldest first. Append new steps, and never
/// change a released one.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL,
        pinned INTEGER NOT NULL
    ) STRICT",
    // Nobody owns the old notes, so nobody could read them.
    "DROP TABLE notes;
    CREATE TABLE users (
        name TEXT PRIMARY KEY,
        password_hash TEXT NOT NULL
    ) STRICT;
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL REFERENCES users (name),
        title TEXT NOT NULL,
        text TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        UNIQUE (owner, title)
    ) STRICT",
];

/// Opens or creates the file, and runs the steps that it does not have.
pub async fn open(path: &str) -> Result<Sqlite, SqlError> {
    let db = Sqlite::open(path)?;
    db.write(|tx| {
        let done: u32 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for step in MIGRATIONS.iter().skip(done as usize) {
            tx.execute_batch(step)?;
        }
        Ok::<_, SqlError>(tx.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?)
    })
    .await?;
    Ok(db)
}
