//! Tests that each store passes `stockade::testing::conformance` and the tests
//! of this file.

use std::sync::Mutex;

use serde_json::json;
use stockade_conformance as conformance;
use stockade_rest::{Filter, ListQuery, Op, RowFilter, Store as _, StoreDoc, StoreError};

use crate::engines::{self, Items};
use crate::item::draft;

#[tokio::test]
async fn the_memory_store_passes_the_suite() {
    conformance::rest_store(async || engines::memory().store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_its_promises() {
    // Dropping an engine removes its files.
    let engines = Mutex::new(Vec::new());
    conformance::rest_store(async || {
        let engine = engines::sqlite().await;
        let store = engine.store.clone();
        engines.lock().unwrap().push(engine);
        store
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_custom_driver_passes_the_suite() {
    conformance::rest_store(async || engines::own().await.store).await;
    conformance::rest_store_operations(engines::own().await.store, 2, 8_000).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_passes_the_suite() {
    use crate::engines::postgres::{few, items};

    for is_prepared in [true, false] {
        let options = few().prepared(is_prepared);
        conformance::rest_store(async || items(&options).await).await;
    }
}

#[tokio::test]
async fn a_resource_knows_the_limits_of_its_table() {
    let store = engines::sqlite().await.store;
    let filters = [
        ("name", vec![Op::Eq, Op::Prefix]),
        ("category", vec![Op::Null, Op::Eq]),
        ("price", vec![Op::Lt, Op::Prefix]),
        ("tags", vec![Op::Eq]),
        ("secret", vec![Op::Eq]),
    ];
    let mut doc = StoreDoc::new(filters, ["name", "category", "tags", "nothing"]);
    store.describe(&mut doc);
    let expected = [
        "the column price cannot be compared by prefix",
        "the column tags cannot be compared by eq",
        "the column secret does not exist",
        "category can be null, and null cannot be sorted",
        "the column tags cannot be sorted",
        "the column nothing does not exist",
    ];
    assert_eq!(doc.issues(), expected);

    // A name that is not a column never becomes part of a statement.
    let scope = RowFilter::eq("owner\" = '' OR \"id", "x");
    let outcome = store.list(&ListQuery { scope, ..ListQuery::new("id", 9) }).await;
    assert!(matches!(outcome, Err(StoreError::Failed(_))));
}

/// PostgreSQL texts cannot contain U+0000.
#[tokio::test]
async fn a_prefix_may_contain_any_character() {
    async fn check(store: impl Items) {
        for name in ["a\0b", "a\0bc", "a\0c", "a", "ab", "äb"] {
            store.create(draft(name, 1, "ada")).await.unwrap();
        }
        for (prefix, expected) in
            [("a\0b", &["a\0b", "a\0bc"][..]), ("a\0", &["a\0b", "a\0bc", "a\0c"]), ("ä", &["äb"])]
        {
            let values = vec![json!(prefix)];
            let filter = Filter { field: "name".to_owned(), op: Op::Prefix, values };
            let page =
                store.list(&ListQuery { filters: vec![filter], ..ListQuery::new("id", 9) }).await;
            let items = page.unwrap().items.into_iter();
            let names: Vec<_> = items.map(|item| item.value.name).collect();
            assert_eq!(names, expected, "{prefix:?}");
        }
    }
    check(engines::memory().store).await;
    check(engines::sqlite().await.store).await;
}
