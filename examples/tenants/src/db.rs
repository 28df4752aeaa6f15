//! The database file and its tables.

use stockade::sql::{SqlError, Sqlite};

/// Every table has the company of its rows, so no statement needs a join for the
/// condition.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS projects (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        name TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS issues (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        title TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS files (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS projects_of_tenant ON projects (tenant, id);
    CREATE INDEX IF NOT EXISTS issues_of_tenant ON issues (tenant, id);";

/// Opens or creates the file.
pub async fn open(path: &str) -> Result<Sqlite, SqlError> {
    let db = Sqlite::open(path)?;
    db.write(|tx| Ok::<_, SqlError>(tx.execute_batch(TABLES)?)).await?;
    Ok(db)
}
