//! An in-memory fake of `diesel-async`: diesel queries without blocking.

use std::time::Duration;

use super::diesel::{Migrations, PgConnection, Query, QueryResult};
use super::pool::{self, Pooled};

/// A non-blocking connection.
#[derive(Clone, Default)]
pub struct AsyncPgConnection(PgConnection);

impl AsyncPgConnection {
    /// Creates the missing tables.
    ///
    /// # Errors
    /// Fails if a migration cannot be parsed.
    pub async fn run_pending_migrations(&mut self, migrations: Migrations) -> QueryResult<()> {
        self.0.run_pending_migrations(migrations)
    }
}

/// A pool of connections.
pub type Pool = pool::Pool<AsyncPgConnection>;

/// A pool connection.
pub type PooledConnection = Pooled<AsyncPgConnection>;

/// Creates a pool of 10 connections to the database at `url`.
#[must_use]
pub fn build(_url: &str) -> Pool {
    Pool::new(AsyncPgConnection::default(), 10, Duration::from_secs(5))
}

/// Queries as futures.
pub trait RunQueryDsl: Query + Send {
    /// Runs the query.
    ///
    /// # Errors
    /// Fails as the diesel query does.
    fn run(
        self,
        connection: &mut AsyncPgConnection,
    ) -> impl Future<Output = QueryResult<Self::Output>> + Send;
}

impl<Q: Query + Send> RunQueryDsl for Q {
    async fn run(self, connection: &mut AsyncPgConnection) -> QueryResult<Q::Output> {
        self.get_result(&mut connection.0)
    }
}
