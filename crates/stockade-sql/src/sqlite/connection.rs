//! Opening connections with the settings that SQLite keeps for each.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::SqlError;

/// The use of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// The statements that a connection keeps prepared.
const STATEMENTS: usize = 256;

/// Makes the file, for its owner alone, unless it is there.
///
/// SQLite gives the files that it makes beside it the same permissions.
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

/// Opens a connection to a file that is there.
pub(super) fn connect(
    path: &Path,
    role: Role,
    busy_timeout: Duration,
) -> Result<Connection, SqlError> {
    // A connection stays on one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    if role == Role::Writer {
        refuse_read_only(&connection)?;
        let pragma = "PRAGMA journal_mode = WAL";
        let mode: String = connection.query_row(pragma, (), |row| row.get(0))?;
        if mode != "wal" {
            return Err(SqlError::failed(format!("journal mode is {mode}, not wal")));
        }
    }
    // A commit that was answered survives the loss of power.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A file from elsewhere cannot call functions by its views and triggers.
    connection.pragma_update(None, "trusted_schema", false)?;
    // A name in quotes that is none is a mistake, and not a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.pragma_update(None, "query_only", role == Role::Reader)?;
    Ok(connection)
}

/// Fails if the file can only be read: SQLite opens it all the same, and would refuse
/// each write.
fn refuse_read_only(connection: &Connection) -> Result<(), SqlError> {
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(SqlError::failed("the file can be read, and not be written"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // By a flag, because root may write to each file.
    #[test]
    fn a_file_that_can_only_be_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        create_file(&path).unwrap();
        let writer = connect(&path, Role::Writer, Duration::ZERO).unwrap();
        refuse_read_only(&writer).unwrap();
        let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let error = refuse_read_only(&reader).unwrap_err().to_string();
        assert!(error.contains("can be read, and not be written"), "{error}");
    }
}
