//! A stand-in for `sqlx` on PostgreSQL: it knows `select '…'`.

use std::fmt;
use std::time::Duration;

use super::pool::{self, PoolError, Pooled};

/// A connection.
#[derive(Clone)]
pub struct PgConnection(());

/// A connection of a pool.
pub type PoolConnection = Pooled<PgConnection>;

/// A pool of connections.
pub struct PgPool(pool::Pool<PgConnection>);

impl PgPool {
    /// Waits for a free connection.
    ///
    /// # Errors
    /// Fails when no connection is free in time.
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
    /// Returns the defaults.
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

    /// Sets the time that a caller waits for a connection.
    #[must_use]
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = timeout;
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    /// Fails when `url` does not begin with `postgres://`.
    pub async fn connect(self, url: &str) -> Result<PgPool, Error> {
        if !url.starts_with("postgres://") {
            return Err(Error("invalid connection url".to_owned()));
        }
        let connection = PgConnection(());
        Ok(PgPool(pool::Pool::new(connection, self.max_connections, self.acquire_timeout)))
    }
}

/// A query with one value as its result.
pub struct QueryScalar<'q>(&'q str);

/// Makes a query with one value as its result.
#[must_use]
pub fn query_scalar(sql: &str) -> QueryScalar<'_> {
    QueryScalar(sql)
}

impl QueryScalar<'_> {
    /// Runs the query.
    ///
    /// # Errors
    /// Fails when no connection is free in time, and for what is no `select` of a
    /// text.
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
