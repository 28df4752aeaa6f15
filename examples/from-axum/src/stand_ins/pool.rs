//! A connection pool like the pools of bb8, deadpool and sqlx.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A pool of shared connections.
#[derive(Clone)]
pub struct Pool<C> {
    /// The connection that the pool clones.
    connection: C,
    free: Arc<Semaphore>,
    acquire_timeout: Duration,
}

impl<C: Clone> Pool<C> {
    /// Creates a pool of at most `max` connections. Callers wait up to
    /// `acquire_timeout` for a connection.
    pub fn new(connection: C, max: usize, acquire_timeout: Duration) -> Self {
        Self { connection, free: Arc::new(Semaphore::new(max)), acquire_timeout }
    }

    /// Waits for a free connection.
    ///
    /// # Errors
    /// Fails if no connection becomes free in time.
    pub async fn get(&self) -> Result<Pooled<C>, PoolError> {
        let permit = timeout(self.acquire_timeout, Arc::clone(&self.free).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(PoolError) };
        Ok(Pooled { connection: self.connection.clone(), _permit: permit })
    }
}

/// A connection that returns to its pool when dropped.
pub struct Pooled<C> {
    connection: C,
    _permit: OwnedSemaphorePermit,
}

impl<C> Deref for Pooled<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.connection
    }
}

impl<C> DerefMut for Pooled<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.connection
    }
}

/// The error of a pool without a free connection.
#[derive(Debug)]
pub struct PoolError;

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no connection was free in time")
    }
}

impl std::error::Error for PoolError {}
