//! An in-memory fake of `deadpool-diesel`: blocking queries on separate threads.

use std::time::Duration;

use tokio::task::{JoinError, spawn_blocking};

use super::diesel::PgConnection;
use super::pool::{self, Pooled};

/// A pool of connections.
pub type Pool = pool::Pool<PgConnection>;

/// Creates a pool of 10 connections to the database at `url`.
#[must_use]
pub fn build(_url: &str) -> Pool {
    Pool::new(PgConnection::default(), 10, Duration::from_secs(5))
}

impl Pooled<PgConnection> {
    /// Runs a blocking function with the connection.
    ///
    /// # Errors
    /// Fails if the function panics.
    pub async fn interact<F, T>(&self, function: F) -> Result<T, JoinError>
    where
        F: FnOnce(&mut PgConnection) -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut connection = PgConnection::clone(self);
        spawn_blocking(move || function(&mut connection)).await
    }
}
