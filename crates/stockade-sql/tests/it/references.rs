//! Tests of rows that other rows reference.

use stockade_rest::{RowFilter, StoreError, VersionCheck};
use stockade_sql::rusqlite;

use crate::engines::{self, Items};
use crate::item::draft;

/// Deletes the first item, which another row references, and a second item
/// without references.
async fn a_row_that_others_refer_to_stays(store: impl Items, refer: impl AsyncFnOnce()) {
    let first = store.create(draft("a", 1, "ada")).await.unwrap().value;
    let second = store.create(draft("b", 1, "ada")).await.unwrap().value;
    assert_eq!(first.id, 1);
    refer().await;
    let refused = store.delete(&1, VersionCheck::Any, &RowFilter::all()).await;
    assert!(matches!(refused, Err(StoreError::Referenced)), "{refused:?}");
    assert!(store.get(&1, &RowFilter::all()).await.unwrap().is_some());
    store.delete(&second.id, VersionCheck::Any, &RowFilter::all()).await.unwrap();
}

#[tokio::test]
async fn sqlite_keeps_referenced_rows() {
    let engine = engines::sqlite().await;
    let path = engine.path();
    let refer = async || {
        let other = rusqlite::Connection::open(path).unwrap();
        let table = "CREATE TABLE sales (item INTEGER NOT NULL REFERENCES items (id)) STRICT;
            INSERT INTO sales VALUES (1)";
        other.execute_batch(table).unwrap();
    };
    a_row_that_others_refer_to_stays(engine.store.clone(), refer).await;
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::engines::postgres::{few, schema, table};
    use crate::item::Item;

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn postgres_keeps_referenced_rows() {
        for rule in ["NO ACTION", "RESTRICT", "NO ACTION DEFERRABLE INITIALLY DEFERRED"] {
            let (db, schema) = schema(&few()).await;
            let items = format!("{schema}.items");
            let store = table::<Item>(&db, &items, |create| create).await;
            let sales = format!(
                "CREATE TABLE {schema}.sales (item bigint NOT NULL REFERENCES {items} (id)
                    ON DELETE {rule});
                INSERT INTO {schema}.sales VALUES (1)"
            );
            let refer = async || db.client().await.unwrap().batch_execute(&sales).await.unwrap();
            a_row_that_others_refer_to_stays(store, refer).await;
        }
    }
}
