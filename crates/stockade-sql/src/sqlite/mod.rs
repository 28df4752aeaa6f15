//! SQLite: one file, one writer, several readers.

#[cfg(feature = "metrics")]
use std::borrow::Cow;
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

#[cfg(feature = "metrics")]
use crate::metrics::PoolUse;
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
/// One thread writes. It commits waiting writes together, so they share one
/// flush to the disk. Each call returns after its commit. Reads have separate
/// threads; readers and the writer do not block each other. So a process never
/// locks itself out.
///
/// The file is in WAL mode, which needs a local disk. Only the owner can read
/// and write a new file. Each connection has `synchronous = FULL`,
/// `foreign_keys` on and `trusted_schema` off.
///
/// The file must stay at its path while the program runs. If it is moved,
/// removed or replaced, each write is [`SqlError::Unavailable`] (on Unix), and
/// reads still use the opened file. A restart opens the file that is then at
/// the path.
///
/// Dropping the last clone finishes the waiting writes and ends the threads.
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
        // SQLite would treat these names as an in-memory or temporary database
        // rather than a file.
        if path.as_os_str().is_empty() || path == Path::new(":memory:") {
            let text = "this is not a file, and an in-memory database belongs to a single \
                        connection: open a file in a temporary folder";
            return Err(SqlError::failed(text));
        }
        let path = absolute(path).map_err(SqlError::failed)?;
        create_file(&path)?;
        // The writer comes first, because it switches the file to WAL mode.
        let (connection, deadline) = open(&path, Role::Writer, options)?;
        let writer = Writer::start(connection, deadline, options, OpenFile::at(&path)?)?;
        let readers = (0..options.readers.max(1)).map(|_| open(&path, Role::Reader, options));
        let readers = Readers::start(readers.collect::<Result<_, _>>()?, options.queue)?;
        Ok(Self { path, writer, readers })
    }
}

/// Options for [`Sqlite`].
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    readers: usize,
    queue: usize,
    busy_timeout: Duration,
    statement_timeout: Duration,
}

impl SqliteOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the number of readers, at least 1. Default: 4, or the number of
        /// processors if it is lower.
        readers: usize;

        /// Sets the maximum number of waiting writes, and also of waiting
        /// reads; at least 1. Further ones fail at once with
        /// [`SqlError::Unavailable`]. Default: 1,024.
        queue: usize;

        /// Sets how long a write waits for another process that writes to the
        /// file. After this time the write fails with
        /// [`SqlError::Unavailable`]. All queued writes wait at the same time.
        /// Default: 5 s.
        busy_timeout: Duration;

        /// Sets the time limit for one call of [`Sqlite::read`] or
        /// [`Sqlite::write`]. Only its statements are interrupted. Default: 5
        /// s.
        statement_timeout: Duration;
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            // Assume one processor if the system does not report the number.
            readers: available_parallelism().map_or(1, usize::from).min(4),
            queue: 1_024,
            busy_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(5),
        }
    }
}

impl Sqlite {
    /// Opens or creates a file with the default options.
    ///
    /// # Errors
    /// Returns an error with the path if the file cannot be opened or created,
    /// is read-only, or cannot use WAL mode. `:memory:` is also an error,
    /// because the threads of a [`Sqlite`] share a file. Use a temporary folder
    /// in tests.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SqlError> {
        Self::open_with(path, &SqliteOptions::new())
    }

    /// Opens or creates a file.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, options: &SqliteOptions) -> Result<Self, SqlError> {
        let path = path.into();
        let inner = Inner::start(&path, options).map_err(|error| error.at_path(&path))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the name of the file, and the use of the readers and of the
    /// writer.
    #[cfg(feature = "metrics")]
    pub(crate) fn pool_uses(&self) -> (Cow<'_, str>, PoolUse, PoolUse) {
        let Inner { path, writer, readers } = &*self.inner;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (name, readers.pool_use(), writer.pool_use())
    }

    /// Runs `work` on a consistent snapshot of the database.
    ///
    /// `work` runs on a reader thread and may block. It cannot write.
    ///
    /// # Errors
    /// Returns the error of `work`, or [`SqlError::Unavailable`] if too many
    /// reads are waiting.
    ///
    /// # Panics
    /// Panics if `work` panics.
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

    /// Runs `work` as the only writer. Commits its changes if it succeeds, and
    /// rolls them back if it fails or panics.
    ///
    /// `work` runs on the writer thread and may block; nothing else is written
    /// until it returns. It runs in a transaction, which it must not end. This
    /// method returns when the changes are on the disk. If the future is
    /// dropped before `work` starts, `work` does not run.
    ///
    /// # Errors
    /// Returns the error of `work`, [`SqlError::Unavailable`] if too many
    /// writes are waiting, or the error of the commit.
    ///
    /// # Panics
    /// Panics if `work` panics.
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
    /// [`MIGRATIONS`](crate::MIGRATIONS). If one fails, all are rolled back.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub async fn execute(&self, statements: impl Into<String>) -> Result<(), SqlError> {
        let statements = statements.into();
        self.write(move |tx| Ok(tx.execute_batch(&statements)?)).await
    }

    /// Returns token revocations that all processes with this file share, like
    /// [`open_revocations`](crate::open_revocations).
    ///
    /// # Errors
    /// Returns an error if a table is missing, lacks a column, or cannot be
    /// read.
    pub async fn revocations(&self) -> Result<Revocations, ConfigError> {
        open_revocations(self).await
    }
}

impl Sqlite {
    /// Returns the store for a type in a table. The columns have the names of
    /// the fields; see [`SqlStore::open`] for the rules.
    ///
    /// Blocks while it reads the table definition, like [`open`](Self::open).
    ///
    /// # Errors
    /// Returns an error that lists all differences between the table and the
    /// type.
    pub fn table<T: Entity>(&self, name: &str) -> Result<SqlStore<T, Self>, ConfigError> {
        let (connection, _) = open(&self.inner.path, Role::Reader, &SqliteOptions::new())
            .map_err(|error| ConfigIssue::new(error.to_string()))?;
        SqlStore::check(self.clone(), name, |statement| rows(&connection, &statement))
    }

    /// Returns the statement that creates a table for a type, like
    /// [`create_table_sql`](crate::create_table_sql). You can run it at each
    /// start. Add indexes and constraints yourself.
    ///
    /// # Errors
    /// Returns an error if the type has no fields, or if a field cannot be a
    /// column.
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
    // A page without filters does not have a parameter.
    if prepared.parameter_count() > 0 {
        prepared.raw_bind_parameter(1, &statement.parameter)?;
    }
    let rows = prepared.raw_query().mapped(read);
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Opens a connection that interrupts its statements at a deadline.
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
