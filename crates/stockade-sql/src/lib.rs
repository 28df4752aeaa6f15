//! Databases for the stockade framework: stores in tables for REST resources,
//! sessions, idempotency keys and revocations; embedded SQLite, PostgreSQL, and
//! a trait for other drivers.
//!
//! A [`SqlStore`] stores the items of a type in a table:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use stockade::prelude::*;
//! use stockade::rest::{Entity, ListQuery, NewRow, Store};
//! use stockade::sql::{SqlError, Sqlite};
//!
//! #[derive(Serialize, Deserialize, Schema)]
//! struct Product {
//!     id: i64,
//!     #[schema(min_length = 1, max_length = 200)]
//!     name: String,
//!     price_cents: u32,
//! }
//!
//! impl Entity for Product {
//!     type Id = i64;
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), BoxError> {
//!     let path = std::env::temp_dir().join(format!("products-{}.db", std::process::id()));
//!     let db = Sqlite::open(&path)?;
//!     let table = db.create_table_sql::<Product>("products")?;
//!     db.write(move |tx| -> Result<(), SqlError> { Ok(tx.execute_batch(&table)?) }).await?;
//!
//!     let store = db.table::<Product>("products")?;
//!     let tea = NewRow::new([("name", json!("tea")), ("price_cents", json!(450))]);
//!     assert_eq!(store.create(tea).await?.value.id, 1);
//!     assert_eq!(store.list(&ListQuery::new("id", 20)).await?.items.len(), 1);
//!     # drop((store, db));
//!     # std::fs::remove_file(path)?;
//!     Ok(())
//! }
//! ```
//!
//! # Your own statements
//!
//! [`Sqlite`] is ordinary state. Its readers and its single writer run on
//! separate threads, so runtime threads never wait for the disk:
//!
//! ```
//! use stockade::prelude::*;
//! use stockade::sql::{SqlError, Sqlite};
//!
//! async fn visits(db: State<Sqlite>) -> Result<Value, SqlError> {
//!     let count: i64 = db
//!         .write(|tx| -> Result<i64, SqlError> {
//!             let next = "UPDATE visits SET count = count + 1 RETURNING count";
//!             Ok(tx.query_row(next, (), |row| row.get(0))?)
//!         })
//!         .await?;
//!     Ok(json!({ "visits": count }))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), BoxError> {
//!     let folder = std::env::temp_dir().join(format!("visits-{}", std::process::id()));
//!     std::fs::create_dir_all(&folder)?;
//!     let db = Sqlite::open(folder.join("visits.db"))?;
//!     db.write(|tx| -> Result<(), SqlError> {
//!         tx.execute_batch("CREATE TABLE visits (count INTEGER); INSERT INTO visits VALUES (0)")?;
//!         Ok(())
//!     })
//!     .await?;
//!
//!     let api = routes! { "visits": { POST: visits } };
//!     let app = create_router(api, RouterOptions::new()).state(db).build()?;
//!     let response = app.handle(stockade::http::Request::post("/visits").body(())?).await;
//!     assert_eq!(response.status(), 200);
//!     # std::fs::remove_dir_all(folder)?;
//!     Ok(())
//! }
//! ```
//!
//! # Sessions, idempotency keys and revocations
//!
//! [`SqlSessionStore`], [`SqlIdempotencyStore`] and [`open_revocations`] store
//! middleware state in tables that several processes share. [`MIGRATIONS`]
//! creates the tables. The stores work with any [`Driver`].
//!
//! # Features
//!
//! - `sqlite`: [`Sqlite`], with the SQLite that rusqlite bundles. The
//!   `sqlx-sqlite` crate links a different SQLite, so one program cannot use
//!   both.
//! - `postgres`: [`Postgres`], a tokio-postgres pool with TLS through rustls
//!   and ring.

// Modules:
// - `store`: `SqlStore`.
// - `table/`: the fields of a type (`field.rs`), the columns of its table and
//   their comparison (`check.rs`), `create_table_sql` (`create.rs`).
// - `plan/`: builds the statements with pure functions.
// - `driver`: `Driver`, `Statement`, `Row`: the database interface of a store.
// - `error`: `SqlError`, the common error type of all databases.
// - `stores/`: sessions, idempotency keys and revocations in tables.
// - `metrics`: the use of connections, for Prometheus.
// - `unreadable`: the error for a row that its type cannot deserialize.
// - `sqlstate`: PostgreSQL error codes, for every driver.
// - `sqlite/`: `Sqlite`. `connection.rs` opens connections, `writer.rs` commits
//   in groups unless the file was moved (`file.rs`), `readers.rs` reads, and
//   `failure.rs` classifies rusqlite errors.
// - `postgres/`: `Postgres`. `options.rs` has the connection settings, `tls.rs`
//   encrypts, and `failure.rs` classifies connection errors.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod driver;
mod error;
#[cfg(all(feature = "metrics", any(feature = "postgres", feature = "sqlite")))]
mod metrics;
mod plan;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod sqlstate;
mod store;
mod stores;
mod table;
mod unreadable;

#[cfg(feature = "postgres")]
#[doc(no_inline)]
pub use deadpool_postgres;
#[cfg(feature = "sqlite")]
#[doc(no_inline)]
pub use rusqlite;
#[cfg(feature = "postgres")]
#[doc(no_inline)]
pub use tokio_postgres;

pub use driver::{Dialect, Driver, Row, Statement};
pub use error::SqlError;
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresOptions};
#[cfg(feature = "sqlite")]
pub use sqlite::{Sqlite, SqliteOptions};
pub use store::SqlStore;
pub use stores::{MIGRATIONS, SqlIdempotencyStore, SqlSessionStore, open_revocations};
pub use table::create_table_sql;
