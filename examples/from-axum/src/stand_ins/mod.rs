//! Fakes of clients of databases and other services. Everything is in
//! memory, with the function names and signatures of the real crates.

pub mod deadpool_diesel;
pub mod diesel;
pub mod diesel_async;
pub mod mongodb;
pub mod pool;
pub mod redis;
pub mod sqlx;
pub mod tokio_postgres;
