//! [`Postgres`]: a pool of connections to PostgreSQL.

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

/// The statements that a connection keeps prepared. Clients choose the filters and
/// the order of a page, and so how many statements there are.
const STATEMENTS: usize = 256;

/// The time that the server has to end a statement by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A pool of connections to PostgreSQL. Clones share it.
///
/// - A request waits at most a second for a connection, and a statement runs for
///   five. Beyond either, or while the server is down, it is
///   [`SqlError::Unavailable`]; connections come back by themselves.
/// - Connections to other machines are encrypted, and the certificate of the server
///   is checked for its name, unless the address says `sslmode=disable`. `prefer`
///   never falls back to plain text.
/// - A statement that loses against another transaction is repeated by a store.
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
    is_prepared: bool,
    /// The time of a statement with the way there and back.
    patience: Duration,
}

impl Postgres {
    /// Connects with the default options.
    ///
    /// The address is a URL (`postgres://user:password@host:5432/database`) or a list
    /// (`host=/run/postgresql user=shop dbname=shop`), as tokio-postgres reads it.
    ///
    /// # Errors
    /// Fails if the address cannot be read, or if there is no connection to be had.
    pub async fn connect(address: &str) -> Result<Self, SqlError> {
        Self::connect_with(address, &PostgresOptions::new()).await
    }

    /// Connects.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and if the certificates of the options, or of
    /// the system, cannot be read.
    pub async fn connect_with(address: &str, options: &PostgresOptions) -> Result<Self, SqlError> {
        let config = options.config(address)?;
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
        let db = Self { pool, is_prepared: options.prepared, patience };
        // A wrong password is found now, and not by the first request.
        drop(db.client().await?);
        Ok(db)
    }

    /// Returns a connection for statements of the program, which goes back into the
    /// pool when it is dropped.
    ///
    /// # Errors
    /// Fails with [`SqlError::Unavailable`] if no connection becomes free in time, or
    /// if the server is down.
    pub async fn client(&self) -> Result<Object, SqlError> {
        Ok(self.pool.get().await?)
    }

    /// Runs several statements without parameters as one transaction, such as
    /// [`MIGRATIONS`](crate::MIGRATIONS).
    ///
    /// # Errors
    /// Fails with the error of the first statement that fails, and as
    /// [`client`](Self::client). Nothing is kept then.
    pub async fn execute(&self, statements: &str) -> Result<(), SqlError> {
        Ok(self.client().await?.batch_execute(statements).await?)
    }

    /// Returns revocations of tokens that all processes with this database share, as
    /// [`open_revocations`] does.
    ///
    /// # Errors
    /// Fails if a table is missing, lacks a column, or cannot be read.
    pub async fn revocations(&self) -> Result<Revocations, ConfigError> {
        open_revocations(self).await
    }

    /// Returns the store of a type in a table, whose columns have the names of the
    /// fields; [`SqlStore::open`] has the rules.
    ///
    /// # Errors
    /// Fails with all differences between the table and the type.
    pub async fn table<T: Entity>(&self, name: &str) -> Result<SqlStore<T, Self>, ConfigError> {
        SqlStore::open(self.clone(), name).await
    }

    /// Returns the statement that makes a table for a type, as the function
    /// [`create_table_sql`](crate::create_table_sql) does: it may be run each time the
    /// program starts, and indexes and constraints are the program's.
    ///
    /// # Errors
    /// Fails if the type has no fields, or fields that cannot be columns.
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
                    // Its answer may still come: nobody else shall wait behind it.
                    drop(Object::take(client));
                    Err(SqlError::unavailable(late))
                }
            }
        })
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may have a password.
        f.debug_struct("Postgres").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}

/// A text of JSON as a parameter of the type `jsonb`.
#[derive(Debug)]
struct JsonText<'t>(&'t str);

impl ToSql for JsonText<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        // The version of the format, and the text.
        out.put_u8(1);
        out.put_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSONB
    }

    to_sql_checked!();
}
