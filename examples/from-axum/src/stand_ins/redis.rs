//! An in-memory fake of `redis` with a bb8 pool: keys and values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::pool::{self, Pooled};

/// A connection. Clones connect to the same server.
#[derive(Clone, Default)]
pub struct Connection {
    values: Arc<Mutex<BTreeMap<String, String>>>,
}

/// A pool of connections.
pub type Pool = pool::Pool<Connection>;

/// A pool connection.
pub type PooledConnection = Pooled<Connection>;

/// Creates a pool of 10 connections to the server at `url`.
///
/// # Errors
/// Fails if `url` does not start with `redis://`.
pub async fn build(url: &str) -> Result<Pool, RedisError> {
    if !url.starts_with("redis://") {
        return Err(RedisError("Redis URL did not parse"));
    }
    Ok(Pool::new(Connection::default(), 10, Duration::from_secs(30)))
}

impl Connection {
    /// Sets the value of a key.
    ///
    /// # Errors
    /// Never fails.
    pub async fn set(&mut self, key: &str, value: &str) -> Result<(), RedisError> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// Fails if the key does not exist.
    pub async fn get(&mut self, key: &str) -> Result<String, RedisError> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(key).cloned().ok_or(RedisError("response was nil"))
    }
}

/// The error of a command.
#[derive(Debug)]
pub struct RedisError(&'static str);

impl fmt::Display for RedisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for RedisError {}
