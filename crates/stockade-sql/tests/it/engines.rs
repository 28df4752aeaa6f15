//! The databases under test, each with an empty table of items.

use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use stockade_core::BoxFuture;
use stockade_rest::{Entity, MemoryStore, Store};
use stockade_sql::{
    Dialect, Driver, Row, SqlError, SqlStore, Sqlite, Statement, create_table_sql, rusqlite,
};
use tempfile::TempDir;

use crate::item::Item;

/// A driver as a program might write it: one connection behind a lock.
#[derive(Clone)]
pub(crate) struct OneConnection(Arc<Mutex<Connection>>);

impl OneConnection {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Arc::new(Mutex::new(connection)))
    }
}

impl Driver for OneConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let connection = self.0.lock().unwrap();
            let mut prepared = connection.prepare(&statement.sql)?;
            let parameters = prepared.parameter_count();
            let parameters = std::iter::repeat_n(statement.parameter, parameters);
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Row::new(row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            };
            let rows = prepared.query_map(rusqlite::params_from_iter(parameters), row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// A store and the resources that must live as long.
pub(crate) struct Engine<S> {
    pub(crate) store: S,
    folder: Option<TempDir>,
}

pub(crate) fn memory() -> Engine<MemoryStore<Item>> {
    Engine { store: MemoryStore::new().unique("name"), folder: None }
}

impl<S> Engine<S> {
    /// Returns the path of the SQLite file.
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.as_ref().unwrap().path().join("items.db")
    }
}

const UNIQUE: &str = "CREATE UNIQUE INDEX items_name ON items (name)";

pub(crate) async fn sqlite() -> Engine<SqlStore<Item, Sqlite>> {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(folder.path().join("items.db")).unwrap();
    let table = db.create_table_sql::<Item>("items").unwrap();
    db.write(move |tx| -> Result<(), SqlError> {
        Ok(tx.execute_batch(&format!("{table} {UNIQUE}"))?)
    })
    .await
    .unwrap();
    Engine { store: db.table("items").unwrap(), folder: Some(folder) }
}

/// Creates a file with a table for a type, and runs extra statements.
pub(crate) async fn sqlite_of<T: Entity>(further: &str) -> Engine<SqlStore<T, Sqlite>> {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(folder.path().join("items.db")).unwrap();
    let create = format!("{} {further}", db.create_table_sql::<T>("items").unwrap());
    db.write(move |tx| -> Result<(), SqlError> { Ok(tx.execute_batch(&create)?) }).await.unwrap();
    Engine { store: db.table("items").unwrap(), folder: Some(folder) }
}

pub(crate) async fn own() -> Engine<SqlStore<Item, OneConnection>> {
    let connection = Connection::open_in_memory().unwrap();
    let table = create_table_sql::<Item>(Dialect::Sqlite, "items").unwrap();
    connection.execute_batch(&format!("{table} {UNIQUE}")).unwrap();
    let driver = OneConnection::new(connection);
    Engine { store: SqlStore::open(driver, "items").await.unwrap(), folder: None }
}

/// PostgreSQL, in a database that has a non-default text order and a schema for
/// each test.
#[cfg(feature = "postgres")]
pub(crate) mod postgres {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use stockade_rest::Entity;
    use stockade_sql::{Postgres, PostgresOptions, SqlStore};

    use crate::item::Item;

    /// Returns the address of the server that `cargo xtask sql` started.
    fn address() -> String {
        std::env::var("STOCKADE_POSTGRES").unwrap()
    }

    /// Creates an empty schema. Returns a pool and the schema's name.
    pub(crate) async fn schema(options: &PostgresOptions) -> (Postgres, String) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let db = Postgres::connect_with(&address(), options).await.unwrap();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        let create = format!("CREATE SCHEMA {schema}");
        db.client().await.unwrap().batch_execute(&create).await.unwrap();
        (db, schema)
    }

    /// Creates a table for a type, with a modified statement.
    pub(crate) async fn table<T: Entity>(
        db: &Postgres,
        name: &str,
        change: impl Fn(String) -> String,
    ) -> SqlStore<T, Postgres> {
        let create = change(db.create_table_sql::<T>(name).unwrap());
        db.client().await.unwrap().batch_execute(&create).await.unwrap();
        db.table(name).await.unwrap()
    }

    /// Creates a table for a type and runs extra statements. `{}` in them is
    /// the table's name.
    pub(crate) async fn table_of<T: Entity>(further: &str) -> SqlStore<T, Postgres> {
        let (db, schema) = schema(&few()).await;
        let name = format!("{schema}.items");
        let further = further.replace("{}", &name);
        table(&db, &name, |create| format!("{create} {further}")).await
    }

    /// Creates an empty table of items with German text collation.
    pub(crate) async fn items(options: &PostgresOptions) -> SqlStore<Item, Postgres> {
        let (db, schema) = schema(options).await;
        let order = |create: String| create.replace("COLLATE \"C\"", "COLLATE \"de-x-icu\"");
        let store = table::<Item>(&db, &format!("{schema}.items"), order).await;
        let unique = format!("CREATE UNIQUE INDEX items_name ON {schema}.items (name)");
        db.client().await.unwrap().batch_execute(&unique).await.unwrap();
        // Reopen it so that the store detects the index.
        drop(store);
        db.table(&format!("{schema}.items")).await.unwrap()
    }

    pub(crate) fn few() -> PostgresOptions {
        PostgresOptions::new().pool(4)
    }
}

/// Implemented for each store of items.
pub(crate) trait Items: Store<Item> {}

impl<S: Store<Item>> Items for S {}
