//! A pool of connections to PostgreSQL.

mod failure;
mod options;
mod tls;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::{BufMut as _, BytesMut};
use deadpool_postgres::{
    GenericClient as _, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime,
};
use stockade_auth::Revocations;
use stockade_core::BoxFuture;
use stockade_errors::ConfigError;
use stockade_rest::Entity;
use tokio::time::timeout;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

pub use options::PostgresOptions;

use crate::{
    Dialect, Driver, Row, SqlError, SqlStore, Statement, create_table_sql, open_revocations,
};

/// The maximum number of prepared statements per connection. Clients choose the
/// filters and the order of a page, so they determine how many statements
/// exist.
const STATEMENTS: usize = 256;

/// The extra time for the server to end a statement itself.
const GRACE: Duration = Duration::from_secs(1);

/// A pool of connections to PostgreSQL. Clones share the pool.
///
/// - A request waits at most one second for a connection, and a statement runs
///   for at most five. Beyond these limits, or while the server is down, the
///   error is [`SqlError::Unavailable`]. The pool reconnects automatically.
/// - Connections to other machines are encrypted, and the server certificate
///   must match the host name, unless the address contains `sslmode=disable`.
///   `prefer` never falls back to plain text.
/// - A store retries a statement that conflicts with another transaction.
///
/// ```no_run
/// use stockade::prelude::*;
/// use stockade::sql::{Postgres, SqlError};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), BoxError> {
/// let db = Postgres::connect("postgres://shop@db.example/shop").await?;
/// let client = db.client().await?;
/// let count: i64 = client.query_one("SELECT count(*) FROM products", &[]).await?.get(0);
/// # assert!(count >= 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    /// The name of the database, for metrics.
    #[cfg(feature = "metrics")]
    name: std::sync::Arc<str>,
    is_prepared: bool,
    /// The time limit for a statement, including the network.
    patience: Duration,
}

impl Postgres {
    /// Connects with the default options.
    ///
    /// The address is a URL (`postgres://user:password@host:5432/database`) or
    /// a list (`host=/run/postgresql user=shop dbname=shop`), as in
    /// tokio-postgres.
    ///
    /// # Errors
    /// Returns an error if the address is invalid or the connection fails.
    pub async fn connect(address: &str) -> Result<Self, SqlError> {
        Self::connect_with(address, &PostgresOptions::new()).await
    }

    /// Connects.
    ///
    /// # Errors
    /// Returns the errors of [`connect`](Self::connect), and an error if the
    /// certificates cannot be read.
    pub async fn connect_with(address: &str, options: &PostgresOptions) -> Result<Self, SqlError> {
        let config = options.config(address)?;
        #[cfg(feature = "metrics")]
        let name = config.get_dbname().unwrap_or("postgres").into();
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match tls::connector(&config, options)? {
            Some(tls) => Manager::from_config(config, tls, recycling),
            None => Manager::from_config(config, tokio_postgres::NoTls, recycling),
        };
        let pool = Pool::builder(manager)
            .max_size(options.pool.max(1))
            .wait_timeout(Some(options.wait))
            .create_timeout(Some(options.statement_timeout))
            .recycle_timeout(Some(options.wait))
            .runtime(Runtime::Tokio1);
        let pool = pool.build().map_err(SqlError::failed)?;
        let patience = options.statement_timeout.saturating_add(GRACE);
        let db = Self {
            pool,
            #[cfg(feature = "metrics")]
            name,
            is_prepared: options.prepared,
            patience,
        };
        // Detects a wrong password now rather than at the first request.
        drop(db.client().await?);
        Ok(db)
    }

    /// Returns the name of the database and the use of its connections.
    #[cfg(feature = "metrics")]
    pub(crate) fn pool_use(&self) -> (&str, crate::metrics::PoolUse) {
        let status = self.pool.status();
        let pool_use = crate::metrics::PoolUse {
            in_use: status.size.saturating_sub(status.available),
            limit: status.max_size,
            waiting: status.waiting,
        };
        (&self.name, pool_use)
    }

    /// Returns a connection for your own statements. Dropping it returns it to
    /// the pool.
    ///
    /// # Errors
    /// Returns [`SqlError::Unavailable`] if no connection becomes free in time
    /// or the server is down.
    pub async fn client(&self) -> Result<Object, SqlError> {
        Ok(self.pool.get().await?)
    }

    /// Runs several statements without parameters in one transaction, such as
    /// [`MIGRATIONS`](crate::MIGRATIONS).
    ///
    /// # Errors
    /// Returns the error of the first failing statement, or the errors of
    /// [`client`](Self::client). All changes are then rolled back.
    pub async fn execute(&self, statements: &str) -> Result<(), SqlError> {
        Ok(self.client().await?.batch_execute(statements).await?)
    }

    /// Returns token revocations that all processes with this database share,
    /// like [`open_revocations`].
    ///
    /// # Errors
    /// Returns an error if a table is missing, lacks a column, or cannot be
    /// read.
    pub async fn revocations(&self) -> Result<Revocations, ConfigError> {
        open_revocations(self).await
    }

    /// Returns the store for a type in a table. The columns have the names of
    /// the fields; see [`SqlStore::open`] for the rules.
    ///
    /// # Errors
    /// Returns an error that lists all differences between the table and the
    /// type.
    pub async fn table<T: Entity>(&self, name: &str) -> Result<SqlStore<T, Self>, ConfigError> {
        SqlStore::open(self.clone(), name).await
    }

    /// Returns the statement that creates a table for a type, like
    /// [`create_table_sql`](crate::create_table_sql). You can run it at each
    /// start. Add indexes and constraints yourself.
    ///
    /// # Errors
    /// Returns an error if the type has no fields, or if a field cannot be a
    /// column.
    pub fn create_table_sql<T: Entity>(&self, name: &str) -> Result<String, ConfigError> {
        create_table_sql::<T>(Dialect::Postgres, name)
    }

    async fn query(&self, client: &Object, statement: &Statement) -> Result<Vec<Row>, SqlError> {
        let parameter = JsonText(&statement.parameter);
        let rows = if self.is_prepared {
            if client.statement_cache.size() >= STATEMENTS {
                client.statement_cache.clear();
            }
            let prepared = client.prepare_typed_cached(&statement.sql, &[Type::JSONB]).await?;
            client.query(&prepared, &[&parameter]).await?
        } else {
            client.query_typed(&statement.sql, &[(&parameter, Type::JSONB)]).await?
        };
        let row =
            |row: &tokio_postgres::Row| Ok(Row { json: row.try_get(0)?, number: row.try_get(1)? });
        rows.iter().map(row).collect()
    }
}

impl Driver for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let client = self.client().await?;
            match timeout(self.patience, self.query(&client, &statement)).await {
                Ok(outcome) => outcome,
                Err(late) => {
                    // The response may still arrive, so no other caller may use
                    // this connection.
                    drop(Object::take(client));
                    Err(SqlError::unavailable(late))
                }
            }
        })
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain a password.
        f.debug_struct("Postgres").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}

/// A JSON text as a `jsonb` parameter.
#[derive(Debug)]
struct JsonText<'t>(&'t str);

impl ToSql for JsonText<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        // The version of the format, then the text.
        out.put_u8(1);
        out.put_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSONB
    }

    to_sql_checked!();
}
