//! An in-memory fake of `sqlx` on PostgreSQL, which only supports `select '…'`.

use std::fmt;
use std::time::Duration;

use super::pool::{self, PoolError, Pooled};

/// A connection.
#[derive(Clone)]
pub struct PgConnection(());

/// A pool connection.
pub type PoolConnection = Pooled<PgConnection>;

/// A pool of connections.
pub struct PgPool(pool::Pool<PgConnection>);

impl PgPool {
    /// Waits for a free connection.
    ///
    /// # Errors
    /// Fails if no connection becomes free in time.
    pub async fn acquire(&self) -> Result<PoolConnection, Error> {
        Ok(self.0.get().await?)
    }
}

/// The options of a pool.
pub struct PgPoolOptions {
    max_connections: usize,
    acquire_timeout: Duration,
}

impl Default for PgPoolOptions {
    fn default() -> Self {
        Self { max_connections: 10, acquire_timeout: Duration::from_secs(30) }
    }
}

impl PgPoolOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of connections.
    #[must_use]
    pub fn max_connections(mut self, max: usize) -> Self {
        self.max_connections = max;
        self
    }

    /// Sets the timeout for getting a connection.
    #[must_use]
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = timeout;
        self
    }

    /// Creates the pool.
    ///
    /// # Errors
    /// Fails if `url` does not start with `postgres://`.
    pub async fn connect(self, url: &str) -> Result<PgPool, Error> {
        if !url.starts_with("postgres://") {
            return Err(Error("invalid connection url".to_owned()));
        }
        let connection = PgConnection(());
        Ok(PgPool(pool::Pool::new(connection, self.max_connections, self.acquire_timeout)))
    }
}

/// A query that returns one value.
pub struct QueryScalar<'q>(&'q str);

/// Creates a query that returns one value.
#[must_use]
pub fn query_scalar(sql: &str) -> QueryScalar<'_> {
    QueryScalar(sql)
}

impl QueryScalar<'_> {
    /// Runs the query.
    ///
    /// # Errors
    /// Fails if no connection becomes free in time, and for anything except a
    /// `select` of a text.
    pub async fn fetch_one(self, executor: impl Executor) -> Result<String, Error> {
        executor.ready().await?;
        let text = self.0.strip_prefix("select '").and_then(|text| text.strip_suffix('\''));
        text.map(str::to_owned).ok_or_else(|| Error(format!("syntax error in {:?}", self.0)))
    }
}

/// A pool or a connection, which runs queries.
pub trait Executor: Send {
    /// Waits for a connection.
    fn ready(self) -> impl Future<Output = Result<(), Error>> + Send;
}

impl Executor for &PgPool {
    async fn ready(self) -> Result<(), Error> {
        self.acquire().await.map(drop)
    }
}

impl Executor for &mut PgConnection {
    async fn ready(self) -> Result<(), Error> {
        Ok(())
    }
}

/// The error of a query.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        Self(error.to_string())
    }
}
