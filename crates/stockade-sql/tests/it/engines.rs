//! The engines, each with an empty table of items.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use stockade_core::BoxFuture;
use stockade_rest::{MemoryStore, Store};
use stockade_sql::{
    Dialect, Driver, Row, SqlError, SqlStore, Sqlite, Statement, create_table_sql, rusqlite,
};
use tempfile::TempDir;

use crate::item::Item;

/// A driver as a program may write it: one connection, behind a lock.
#[derive(Clone)]
pub(crate) struct OneConnection(Arc<Mutex<Connection>>);

impl Driver for OneConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// A store and whatever must live as long.
pub(crate) struct Engine<S> {
    pub(crate) store: S,
    _folder: Option<TempDir>,
}

pub(crate) fn memory() -> Engine<MemoryStore<Item>> {
    Engine { store: MemoryStore::new().unique("name"), _folder: None }
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
    Engine { store: db.table("items").unwrap(), _folder: Some(folder) }
}

pub(crate) async fn own() -> Engine<SqlStore<Item, OneConnection>> {
    let connection = Connection::open_in_memory().unwrap();
    let table = create_table_sql::<Item>(Dialect::Sqlite, "items").unwrap();
    connection.execute_batch(&format!("{table} {UNIQUE}")).unwrap();
    let driver = OneConnection(Arc::new(Mutex::new(connection)));
    Engine { store: SqlStore::open(driver, "items").await.unwrap(), _folder: None }
}

/// Holds for each store of items.
pub(crate) trait Items: Store<Item> {}

impl<S: Store<Item>> Items for S {}
