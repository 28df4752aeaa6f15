//! The storage of the shop: one table type for three databases.

use std::sync::{Arc, Mutex, PoisonError};

use stockade::BoxFuture;
use stockade::middleware::metrics::{MetricsSource, MetricsWriter};
use stockade::prelude::*;
use stockade::rest::Entity;
#[cfg(feature = "postgres")]
use stockade::sql::Postgres;
use stockade::sql::rusqlite::{self, Connection};
use stockade::sql::{
    Dialect, Driver, Row, SqlError, SqlStore, Sqlite, Statement, create_table_sql,
};

/// The rows of a type. The database is chosen at runtime.
pub type Table<T> = SqlStore<T, Arc<dyn Driver>>;

/// A database. The shop only relies on its ability to run statements.
#[derive(Clone)]
pub struct Database {
    driver: Arc<dyn Driver>,
    /// The use of its connections, if it has a pool.
    pool: Option<Arc<dyn MetricsSource>>,
}

impl Database {
    /// Opens a file, `postgres://…`, or `:memory:`, which is lost when the
    /// program ends.
    pub async fn open(address: &str) -> Result<Self, BoxError> {
        Ok(match address.split_once("://") {
            _ if address == ":memory:" => Self { driver: Arc::new(Memory::open()?), pool: None },
            #[cfg(feature = "postgres")]
            Some(("postgres" | "postgresql", _)) => Self::of(Postgres::connect(address).await?),
            #[cfg(not(feature = "postgres"))]
            Some(("postgres" | "postgresql", _)) => {
                return Err("PostgreSQL needs the feature `postgres` of the shop".into());
            }
            // The rest of the address may contain a password.
            Some(_) => {
                return Err("expected a file, or an address that begins with postgres://".into());
            }
            None if address.is_empty() => return Err("it is empty".into()),
            None => Self::of(Sqlite::open(address)?),
        })
    }

    fn of(database: impl Driver + MetricsSource + Clone) -> Self {
        Self { driver: Arc::new(database.clone()), pool: Some(Arc::new(database)) }
    }

    /// Opens the table of a type, and creates it if it does not exist. Values
    /// in the column `unique` are unique.
    pub async fn table<T: Entity>(
        &self,
        name: &str,
        unique: Option<&str>,
    ) -> Result<Table<T>, BoxError> {
        self.run(&create_table_sql::<T>(self.driver.dialect(), name)?).await?;
        if let Some(column) = unique {
            let index = format!("{name}_{column} ON {name} ({column})");
            self.run(&format!("CREATE UNIQUE INDEX IF NOT EXISTS {index}")).await?;
        }
        Ok(SqlStore::open(Arc::clone(&self.driver), name).await?)
    }

    /// Runs one of the program's own statements, without parameters.
    pub async fn run(&self, sql: &str) -> Result<(), SqlError> {
        self.driver.run(Statement::writing(sql, "{}")).await.map(drop)
    }
}

/// For the metrics of the shop.
impl MetricsSource for Database {
    fn collect(&self, to: &mut MetricsWriter) {
        if let Some(pool) = &self.pool {
            pool.collect(to);
        }
    }

    fn families() -> &'static [&'static str] {
        Sqlite::families()
    }
}

/// An in-memory database for tests, with one connection and no separate thread.
/// It shows how simple a driver can be.
struct Memory(Mutex<Connection>);

impl Memory {
    fn open() -> Result<Self, SqlError> {
        Ok(Self(Mutex::new(Connection::open_in_memory()?)))
    }

    fn rows(&self, statement: &Statement) -> Result<Vec<Row>, SqlError> {
        // A panicking statement has written nothing, because it is its own
        // transaction.
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut prepared = connection.prepare_cached(&statement.sql)?;
        if prepared.parameter_count() > 0 {
            prepared.raw_bind_parameter(1, &statement.parameter)?;
        }
        let row =
            |row: &rusqlite::Row<'_>| Ok(Row::new(row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let rows = prepared.raw_query().mapped(row);
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Driver for Memory {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move { self.rows(&statement) })
    }
}
