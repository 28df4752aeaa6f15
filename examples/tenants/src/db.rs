//! The database file and its tables.

use stockade::sql::{SqlError, Sqlite};

/// Every table of a company has the company in its rows, so no statement needs a
/// join for the condition.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS companies (
        name TEXT PRIMARY KEY,
        plan TEXT NOT NULL DEFAULT 'free'
    ) STRICT;
    CREATE TABLE IF NOT EXISTS members (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL REFERENCES companies (name) ON DELETE CASCADE,
        email TEXT NOT NULL UNIQUE,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS projects (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL REFERENCES companies (name) ON DELETE CASCADE,
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
        name TEXT NOT NULL,
        media_type TEXT NOT NULL,
        content BLOB NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS hooks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL REFERENCES companies (name) ON DELETE CASCADE,
        url TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS deliveries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        hook INTEGER NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
        body TEXT NOT NULL
    ) STRICT;
    -- The handled events of the payment provider.
    CREATE TABLE IF NOT EXISTS payments (id TEXT PRIMARY KEY) STRICT;
    CREATE INDEX IF NOT EXISTS members_of_tenant ON members (tenant, id);
    CREATE INDEX IF NOT EXISTS projects_of_tenant ON projects (tenant, id);
    CREATE INDEX IF NOT EXISTS issues_of_tenant ON issues (tenant, id);
    CREATE INDEX IF NOT EXISTS hooks_of_tenant ON hooks (tenant, id);";

/// Opens or creates the file.
pub async fn open(path: &str) -> Result<Sqlite, SqlError> {
    let db = Sqlite::open(path)?;
    db.write(|tx| Ok::<_, SqlError>(tx.execute_batch(TABLES)?)).await?;
    Ok(db)
}
