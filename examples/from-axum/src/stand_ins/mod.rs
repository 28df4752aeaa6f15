//! Stand-ins for clients of databases and other services: everything is in memory,
//! and the calls have the names and the shape of those of the real crates.

pub mod deadpool_diesel;
pub mod diesel;
pub mod diesel_async;
pub mod mongodb;
pub mod oauth;
pub mod pool;
pub mod redis;
pub mod sqlx;
pub mod tokio_postgres;
