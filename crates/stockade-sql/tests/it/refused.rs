//! Tests of rows that a table rule rejects: the client's response and the log.

use std::sync::{Mutex, MutexGuard, Once};

use log::{Level, LevelFilter, Log, Metadata, Record};
use stockade_rest::{NewRow, RowFilter, Store as _, StoreError, VersionCheck};
use stockade_sql::rusqlite::Connection;

use crate::engines;
use crate::item::{Item, draft};

/// Records the lines of the log.
pub(crate) struct Lines(Mutex<Vec<(Level, String)>>);

pub(crate) static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl Lines {
    pub(crate) fn get(&self) -> MutexGuard<'_, Vec<(Level, String)>> {
        self.0.lock().unwrap()
    }
}

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        self.get().push((record.level(), record.args().to_string()));
    }

    fn flush(&self) {}
}

pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&LINES).unwrap();
        log::set_max_level(LevelFilter::Info);
    });
}

#[tokio::test]
async fn logs_a_violated_table_constraint() {
    listen();
    let engine = engines::sqlite().await;
    let trigger = "CREATE TRIGGER closed BEFORE INSERT ON items WHEN NEW.owner = 'eve'
        BEGIN SELECT RAISE(ABORT, 'eve sells nothing here'); END";
    Connection::open(engine.path()).unwrap().execute_batch(trigger).unwrap();
    let refused = engine.store.create(draft("a", 1, "eve")).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Invalid(fields) if fields.is_empty()), "{refused:?}");
    let line = "\"items\": the database rejected a value: eve sells nothing here".to_owned();
    assert!(LINES.get().contains(&(Level::Info, line)));
}

#[tokio::test]
async fn names_a_value_that_is_unique_in_its_scope() {
    let engine = engines::sqlite().await;
    let unique = "DROP INDEX items_name; CREATE UNIQUE INDEX by_owner ON items (owner, name)";
    Connection::open(engine.path()).unwrap().execute_batch(unique).unwrap();
    let of_owner = |name: &str| {
        let mut new = draft(name, 1, "");
        new.remove("owner");
        let values = new.values().clone();
        let mut new = NewRow::<Item>::new(values);
        // Like a resource that adds an item to the scope of its user.
        new.set("owner", "ada");
        new
    };
    let store = &engine.store;
    store.create(of_owner("a")).await.unwrap();
    let second = store.create(of_owner("b")).await.unwrap().value.id;
    let scope = RowFilter::eq("owner", "ada");
    for outcome in [
        store.create(of_owner("a")).await,
        store.replace(&second, of_owner("a"), VersionCheck::Any, &scope).await,
        store.replace(&second, draft("a", 1, "ada"), VersionCheck::Any, &scope).await,
    ] {
        let Err(StoreError::Taken { field }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(field, "name");
    }
    // The client chose both values.
    let outcome = store.create(draft("a", 1, "ada")).await;
    assert!(
        matches!(&outcome, Err(StoreError::Taken { field }) if field.is_empty()),
        "{outcome:?}"
    );
}
