//! [`Sqlite`]: one file, one writer, several readers.

use std::fmt;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use rusqlite::Connection;
use stockade_auth::Revocations;
use stockade_core::BoxFuture;
use stockade_errors::__internal::setters;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_rest::Entity;

use crate::table::create_table_sql;
use crate::{Dialect, Driver, Row, SqlError, SqlStore, Statement, open_revocations};
use connection::{Role, connect, create_file};
use file::OpenFile;
use readers::Readers;
use worker::Deadline;
use writer::Writer;

mod connection;
mod failure;
mod file;
mod readers;
mod worker;
mod writer;

#[cfg(test)]
mod tests;

/// A SQLite database in a file. Clones share it.
///
/// One thread writes. It commits the writes that wait together, so that they share
/// one flush to the disk, and answers each after the commit. Readers are threads
/// too; the writer does not wait for them, nor they for it. So a process never
/// locks itself out.
///
/// The file is in WAL mode, which needs a local disk. A new file can be read and
/// written by its owner alone. Each connection has `synchronous = FULL`,
/// `foreign_keys` on and `trusted_schema` off.
///
/// While the program runs, the file must stay at its path. If it was moved, removed or
/// replaced, each write is [`SqlError::Unavailable`] (on Unix), and reads are answered
/// from the file that was opened; a restart opens what stands at the path then.
///
/// When the last clone is dropped, the writes that wait are done, and the threads
/// end.
#[derive(Clone)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
}

impl Inner {
    fn start(path: &Path, options: &SqliteOptions) -> Result<Self, SqlError> {
        // Else SQLite would take some names for no files: of memory, and of a URI.
        if path.as_os_str().is_empty() || path == Path::new(":memory:") {
            let text = "this is no file, and a database in memory is that of one connection \
                alone: open a file in a temporary folder";
            return Err(SqlError::failed(text));
        }
        let path = absolute(path).map_err(SqlError::failed)?;
        create_file(&path)?;
        // First the writer: it brings the file into WAL mode.
        let (connection, deadline) = open(&path, Role::Writer, options)?;
        let writer = Writer::start(connection, deadline, options, OpenFile::at(&path)?)?;
        let readers = (0..options.readers.max(1)).map(|_| open(&path, Role::Reader, options));
        let readers = Readers::start(readers.collect::<Result<_, _>>()?, options.queue)?;
        Ok(Self { path, writer, readers })
    }
}

/// Options of a [`Sqlite`].
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    readers: usize,
    queue: usize,
    busy_timeout: Duration,
    statement_timeout: Duration,
}

impl SqliteOptions {
    /// Makes the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the number of readers, at least 1. Default: 4, or the number of
        /// processors if it is lower.
        readers: usize;

        /// Sets how many writes may wait, and how many reads, at least 1; beyond it each
        /// is [`SqlError::Unavailable`] at once. Default: 1,024.
        queue: usize;

        /// Sets how long a write waits for another process that writes to the file;
        /// beyond it the write is [`SqlError::Unavailable`]. All writes of the queue wait
        /// at the same time. Default: 5 s.
        busy_timeout: Duration;

        /// Sets the time of one call of [`Sqlite::read`] or [`Sqlite::write`], of
        /// which only its statements are interrupted. Default: 5 s.
        statement_timeout: Duration;
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            // One processor where the system does not tell.
            readers: available_parallelism().map_or(1, usize::from).min(4),
            queue: 1_024,
            busy_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(5),
        }
    }
}

impl Sqlite {
    /// Opens a file, or makes it, with the default options.
    ///
    /// # Errors
    /// Fails with the path if the file cannot be opened or made, can only be read, or
    /// cannot be in WAL mode. `:memory:` fails too, because the threads of a [`Sqlite`]
    /// share a file; tests open one in a temporary folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SqlError> {
        Self::open_with(path, &SqliteOptions::new())
    }

    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, options: &SqliteOptions) -> Result<Self, SqlError> {
        let path = path.into();
        let inner = Inner::start(&path, options).map_err(|error| error.at_path(&path))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs `work` on one state of the database, which no writer changes.
    ///
    /// `work` runs on the thread of a reader, where it may block. It cannot write.
    /// A `work` that panics makes this method panic.
    ///
    /// # Errors
    /// Fails with the error of `work`, and with [`SqlError::Unavailable`] if too
    /// many reads wait.
    pub async fn read<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqlError> + Send + 'static,
    {
        self.inner.readers.transaction(work).await
    }

    /// Runs `work` as the only writer. Its changes are kept if it succeeds, and
    /// none of them if it fails or panics.
    ///
    /// `work` runs on the thread of the writer, where it may block; until it ends
    /// nothing else is written. It is called within a transaction, which it must
    /// not end. This method returns when the changes are on the disk. If it is
    /// dropped before its turn, `work` does not run.
    ///
    /// A `work` that panics makes this method panic.
    ///
    /// # Errors
    /// Fails with the error of `work`, with [`SqlError::Unavailable`] if too many
    /// writes wait, or with the error of the commit.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqlError> + Send + 'static,
    {
        self.inner.writer.run(work).await
    }

    /// Runs several statements without parameters as one write, such as
    /// [`MIGRATIONS`](crate::MIGRATIONS). If one fails, none of them is kept.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn execute(&self, statements: impl Into<String>) -> Result<(), SqlError> {
        let statements = statements.into();
        self.write(move |tx| Ok(tx.execute_batch(&statements)?)).await
    }

    /// Returns revocations of tokens that all processes with this file share, as
    /// [`open_revocations`](crate::open_revocations) does.
    ///
    /// # Errors
    /// Fails if a table is missing, lacks a column, or cannot be read.
    pub async fn revocations(&self) -> Result<Revocations, ConfigError> {
        open_revocations(self).await
    }
}

impl Sqlite {
    /// Returns the store of a type in a table, whose columns have the names of the
    /// fields; [`SqlStore::open`] has the rules.
    ///
    /// It blocks until the table is read, as [`open`](Self::open) does.
    ///
    /// # Errors
    /// Fails with all differences between the table and the type.
    pub fn table<T: Entity>(&self, name: &str) -> Result<SqlStore<T, Self>, ConfigError> {
        let (connection, _) = open(&self.inner.path, Role::Reader, &SqliteOptions::new())
            .map_err(|error| ConfigIssue::new(error.to_string()))?;
        SqlStore::check(self.clone(), name, |statement| rows(&connection, &statement))
    }

    /// Returns the statement that makes a table for a type, as the function
    /// [`create_table_sql`](crate::create_table_sql) does: it may be run each time the
    /// program starts, and indexes and constraints are the program's.
    ///
    /// # Errors
    /// Fails if the type has no fields, or fields that cannot be columns.
    pub fn create_table_sql<T: Entity>(&self, name: &str) -> Result<String, ConfigError> {
        create_table_sql::<T>(Dialect::Sqlite, name)
    }
}

impl Driver for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let writes = statement.writes;
            let work = move |connection: &Connection| rows(connection, &statement);
            if writes {
                self.inner.writer.run(work).await
            } else {
                self.inner.readers.statement(work).await
            }
        })
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

/// Runs a statement of a store.
fn rows(connection: &Connection, statement: &Statement) -> Result<Vec<Row>, SqlError> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok(Row { json: row.get(0)?, number: row.get(1)? });
    // A page without filters has no value.
    if prepared.parameter_count() > 0 {
        prepared.raw_bind_parameter(1, &statement.parameter)?;
    }
    let rows = prepared.raw_query().mapped(read);
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Opens a connection whose statements end at a deadline.
fn open(
    path: &Path,
    role: Role,
    options: &SqliteOptions,
) -> Result<(Connection, Deadline), SqlError> {
    let mut connection = connect(path, role, options.busy_timeout)?;
    let deadline = Deadline::new(options.statement_timeout);
    deadline.watch(&mut connection)?;
    Ok((connection, deadline))
}
