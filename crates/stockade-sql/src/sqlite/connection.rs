//! Opens SQLite connections with the per-connection settings.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::SqlError;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// The maximum number of prepared statements per connection.
const STATEMENTS: usize = 256;

/// Creates the file if it is missing. Only its owner can read and write it.
///
/// SQLite gives its additional files the same permissions.
pub(super) fn create_file(path: &Path) -> Result<(), SqlError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(SqlError::failed(error)),
        _ => Ok(()),
    }
}

/// Opens a connection to an existing file.
pub(super) fn connect(
    path: &Path,
    role: Role,
    busy_timeout: Duration,
) -> Result<Connection, SqlError> {
    // Only one thread at a time uses a connection.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    if role == Role::Writer {
        refuse_read_only(&connection)?;
        let pragma = "PRAGMA journal_mode = WAL";
        let mode: String = connection.query_row(pragma, (), |row| row.get(0))?;
        if mode != "wal" {
            return Err(SqlError::failed(format!("expected the journal mode wal, found {mode}")));
        }
    }
    // An acknowledged commit survives a power failure.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Views and triggers in a foreign file cannot call functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // An unknown name in double quotes is an error rather than a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.pragma_update(None, "query_only", role == Role::Reader)?;
    Ok(connection)
}

/// Returns an error if the file is read-only. SQLite would open it anyway and
/// reject each write.
fn refuse_read_only(connection: &Connection) -> Result<(), SqlError> {
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(SqlError::failed("the file is read-only"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Uses a flag, because root can write to any file.
    #[test]
    fn rejects_a_read_only_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        create_file(&path).unwrap();
        let writer = connect(&path, Role::Writer, Duration::ZERO).unwrap();
        refuse_read_only(&writer).unwrap();
        let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let error = refuse_read_only(&reader).unwrap_err().to_string();
        assert!(error.contains("the file is read-only"), "{error}");
    }
}
