//! The promises of a store, one by one.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use stockade_rest::{
    Ask, Direction, Draft, Expected, Filter, MemoryStore, Op, Scope, Sort, Store as _, StoreDoc,
    StoreError, Version,
};
use tokio::task::JoinSet;

use crate::engines::{self, Items};
use crate::item::{Item, TEXTS, draft};

/// Runs a test on each engine.
macro_rules! on_each_engine {
    ($($test:ident)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::engines::memory().store).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let engine = super::engines::sqlite().await;
                super::$test(engine.store).await;
            })*
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            use super::engines::postgres::{few, items};

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(store) = items(&few()).await {
                    super::$test(store).await;
                }
            })*
        }
        #[cfg(feature = "postgres")]
        mod postgres_unprepared {
            use super::engines::postgres::{few, items};

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(store) = items(&few().prepared(false)).await {
                    super::$test(store).await;
                }
            })*
        }
        mod own {
            $(#[tokio::test]
            async fn $test() {
                let engine = super::engines::own().await;
                super::$test(engine.store).await;
            })*
        }
    };
}

on_each_engine! {
    values_come_back_as_they_were
    ids_and_names_are_unique
    writes_are_done_at_one_version
    a_field_without_a_value_becomes_null_or_its_default
    texts_are_data_in_every_place
    rows_outside_of_a_scope_are_missing
    pages_cover_all_rows_once
    pages_go_on_behind_any_float
    no_update_is_lost
    an_id_that_comes_back_has_a_new_version
}

async fn values_come_back_as_they_were(store: impl Items) {
    let extra = json!({ "deep": [1, 2.5, null, { "x": "y" }], "n": 9_007_199_254_740_993_i64 });
    for (extra, rating) in [
        (extra, 0.1 + 0.2),
        (json!("a text"), 1e300),
        (json!("null"), -0.25),
        (json!(7), 5e-324),
        (json!(false), 123_456_789_012_345_680.0),
        (json!([]), 1.0),
        (Value::Null, 0.0),
    ] {
        let mut new = draft(&extra.to_string(), u32::MAX, "ada");
        new.set("extra", extra.clone());
        new.set("rating", rating);
        new.set("tags", json!(["", "\"", "é"]));
        new.set("open", false);
        let made = store.create(new).await.unwrap();
        let got = store.get(&made.value.id, &Scope::all()).await.unwrap().unwrap();
        assert_eq!(got, made);
        let item = got.value;
        assert_eq!(item.extra, (!extra.is_null()).then_some(extra));
        assert_eq!((item.price, item.open), (u32::MAX, false));
        assert!((item.rating - rating).abs() == 0.0, "{} {rating}", item.rating);
        assert_eq!(item.tags, ["", "\"", "é"]);
    }
}

async fn ids_and_names_are_unique(store: impl Items) {
    let made = store.create(draft("a", 1, "ada")).await.unwrap();
    let taken = |outcome: Result<_, StoreError>, expected: &str| match outcome {
        Err(StoreError::Taken { field }) => assert_eq!(field, expected),
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("{expected} is unique"),
    };
    taken(store.create(draft("a", 2, "bob")).await, "name");
    let mut again = draft("b", 1, "ada");
    again.set("id", made.value.id);
    taken(store.create(again).await, "id");
    let other = store.create(draft("c", 1, "ada")).await.unwrap().value.id;
    let outcome = store.replace(&other, draft("a", 3, "ada"), Expected::Any, &Scope::all()).await;
    taken(outcome, "name");
    let got = store.get(&other, &Scope::all()).await.unwrap().unwrap();
    assert_eq!((&*got.value.name, got.value.price), ("c", 1));
}

async fn writes_are_done_at_one_version(store: impl Items) {
    let made = store.create(draft("a", 1, "ada")).await.unwrap();
    let (id, all) = (made.value.id, Scope::all());
    let expected = Expected::Version(made.version);
    let changed = store.replace(&id, draft("a", 2, "ada"), expected, &all).await.unwrap();
    assert_ne!(changed.version, made.version);
    let stale = store.replace(&id, draft("a", 3, "ada"), expected, &all).await;
    assert!(matches!(stale, Err(StoreError::Changed)), "{stale:?}");
    let stale = store.delete(&id, expected, &all).await;
    assert!(matches!(stale, Err(StoreError::Changed)), "{stale:?}");
    let huge = Expected::Version(Version(u64::MAX));
    let stale = store.replace(&id, draft("a", 3, "ada"), huge, &all).await;
    assert!(matches!(stale, Err(StoreError::Changed)), "{stale:?}");

    store.delete(&id, Expected::Version(changed.version), &all).await.unwrap();
    for expected in [Expected::Any, expected] {
        let missing = store.delete(&id, expected, &all).await;
        assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
        let missing = store.replace(&id, draft("a", 3, "ada"), expected, &all).await;
        assert!(matches!(missing, Err(StoreError::Missing)), "{missing:?}");
    }
    assert_eq!(store.get(&id, &all).await.unwrap(), None);
    assert_eq!(store.get(&i64::MIN, &all).await.unwrap(), None);
}

async fn a_field_without_a_value_becomes_null_or_its_default(store: impl Items) {
    let mut first = draft("a", 1, "ada");
    first.set("category", "tea");
    let id = store.create(first).await.unwrap().value.id;
    let mut second = draft("b", 2, "ada");
    second.remove("category");
    second.remove("tags");
    let item = store.replace(&id, second, Expected::Any, &Scope::all()).await.unwrap().value;
    assert_eq!((item.category, item.tags), (None, Vec::new()));

    let third = Draft::new([("price", json!(9))]);
    let item = store.replace(&id, third, Expected::Any, &Scope::all()).await.unwrap().value;
    assert_eq!((&*item.name, item.price, &*item.owner), ("b", 9, "ada"));
}

async fn texts_are_data_in_every_place(store: impl Items) {
    for text in TEXTS {
        let mut new = draft(text, 1, text);
        new.set("category", *text);
        new.set("extra", json!({ (*text): text }));
        let made = store.create(new).await.unwrap();
        assert_eq!((&*made.value.name, &*made.value.owner), (*text, *text));
        assert_eq!(made.value.extra, Some(json!({ (*text): text })));
    }
    let by = |field: &str, op, text: &str| Filter {
        field: field.to_owned(),
        op,
        values: vec![json!(text)],
    };
    let mut in_order = TEXTS.to_vec();
    in_order.sort_unstable();
    for text in TEXTS {
        let names = |filters, after: Option<Vec<Value>>| {
            let sort = |field: &str| Sort { field: field.into(), direction: Direction::Ascending };
            let sorts = vec![sort("name"), sort("id")];
            let ask = Ask { filters, sorts, after, limit: 99, ..Ask::new("id", 99) };
            let store = &store;
            async move {
                let page = store.list(&ask).await.unwrap();
                page.items.into_iter().map(|item| item.value.name).collect::<Vec<_>>()
            }
        };
        assert_eq!(names(vec![by("name", Op::Eq, text)], None).await, [*text]);
        assert_eq!(names(vec![by("category", Op::Eq, text)], None).await, [*text]);
        let below: Vec<_> = in_order.iter().filter(|it| *it < text).copied().collect();
        assert_eq!(names(vec![by("name", Op::Lt, text)], None).await, below, "{text:?}");
        let above: Vec<_> = in_order.iter().filter(|it| *it > text).copied().collect();
        let after = Some(vec![json!(text), json!(i64::MAX)]);
        assert_eq!(names(Vec::new(), after).await, above, "{text:?}");
        let begin: Vec<_> = in_order.iter().filter(|it| it.starts_with(text)).copied().collect();
        assert_eq!(names(vec![by("name", Op::Prefix, text)], None).await, begin, "{text:?}");
        let two = vec![json!(text), json!("no such text")];
        let any = Filter { field: "name".to_owned(), op: Op::Eq, values: two };
        assert_eq!(names(vec![any], None).await, [*text]);
        let page = store.list(&Ask { scope: Scope::eq("owner", *text), ..Ask::new("id", 9) }).await;
        assert_eq!(page.unwrap().items.len(), 1);
    }
}

async fn rows_outside_of_a_scope_are_missing(store: impl Items) {
    let mut of_others = Vec::new();
    for (index, owner) in ["ada", "bob", "Ada", "ada ", "", "%"].iter().enumerate() {
        let made = store.create(draft(&index.to_string(), 1, owner)).await.unwrap();
        of_others.push((made.value.id, made.version));
    }
    let (own, _) = of_others.remove(0);
    for scope in [
        Scope::eq("owner", "ada"),
        Scope::eq("owner", "ada").and_eq("price", 1).and_eq("open", true),
    ] {
        assert!(store.get(&own, &scope).await.unwrap().is_some());
        let ask = Ask { scope: scope.clone(), count: Some(99), ..Ask::new("id", 9) };
        let page = store.list(&ask).await.unwrap();
        assert_eq!((page.items.len(), page.total, page.more), (1, Some(1), false));
        for (id, version) in &of_others {
            assert_eq!(store.get(id, &scope).await.unwrap(), None);
            for expected in [Expected::Any, Expected::Version(*version)] {
                let outcome = store.replace(id, draft("x", 2, "ada"), expected, &scope).await;
                assert!(matches!(outcome, Err(StoreError::Missing)), "{outcome:?}");
                let outcome = store.delete(id, expected, &scope).await;
                assert!(matches!(outcome, Err(StoreError::Missing)), "{outcome:?}");
            }
        }
    }
    // A value that is missing is that of nobody.
    for scope in [
        Scope::eq("owner", Value::Null),
        Scope::eq("category", Value::Null),
        Scope::eq("owner", "ada").and_eq("owner", "bob"),
    ] {
        assert_eq!(store.get(&own, &scope).await.unwrap(), None);
        assert_eq!(store.list(&Ask { scope, ..Ask::new("id", 9) }).await.unwrap().items, []);
    }
}

async fn pages_cover_all_rows_once(store: impl Items) {
    for index in 0..23_u32 {
        store.create(draft(&format!("{:02}", (index * 7) % 23), index % 4, "ada")).await.unwrap();
    }
    let (up, down) = (Direction::Ascending, Direction::Descending);
    for order in [
        vec![("id", up)],
        vec![("id", down)],
        vec![("price", up), ("id", up)],
        vec![("price", down), ("id", up)],
        vec![("price", down), ("name", up), ("id", down)],
        vec![("open", up), ("rating", down), ("price", up), ("id", down)],
    ] {
        let sort = |(field, direction): &(&str, _)| Sort {
            field: (*field).to_owned(),
            direction: *direction,
        };
        let sorts: Vec<Sort> = order.iter().map(sort).collect();
        let mut ask = Ask { sorts, limit: 5, count: Some(10), ..Ask::new("id", 5) };
        let mut seen = BTreeSet::new();
        let mut pages = 0;
        loop {
            let page = store.list(&ask).await.unwrap();
            pages += 1;
            assert_eq!(page.total, Some(10));
            for item in &page.items {
                assert!(seen.insert(item.value.id), "{order:?}: {} twice", item.value.id);
            }
            if !page.more {
                break;
            }
            let last = serde_json::to_value(&page.items.last().unwrap().value).unwrap();
            ask.after = Some(order.iter().map(|(field, _)| last[field].clone()).collect());
        }
        assert_eq!((seen.len(), pages), (23, 5), "{order:?}");
    }
}

/// A float that is read as its neighbour would be the first of the next page again.
async fn pages_go_on_behind_any_float(store: impl Items) {
    const ROWS: u32 = 40;
    for index in 0..ROWS {
        let mut new = draft(&index.to_string(), 1, "ada");
        new.set("rating", 52.074_930_194_446_77 + f64::from(index) / 7.0);
        store.create(new).await.unwrap();
    }
    for direction in [Direction::Ascending, Direction::Descending] {
        let sort = |field: &str| Sort { field: field.to_owned(), direction };
        let sorts = vec![sort("rating"), sort("id")];
        let mut ask = Ask { sorts, ..Ask::new("id", 1) };
        let mut seen = BTreeSet::new();
        loop {
            let page = store.list(&ask).await.unwrap();
            let item = serde_json::to_value(&page.items[0].value).unwrap();
            assert!(seen.insert(item["id"].as_i64()), "{item} twice");
            if !page.more {
                break;
            }
            // As a cursor brings it back.
            let after = json!([item["rating"], item["id"]]).to_string();
            ask.after = serde_json::from_str(&after).unwrap();
        }
        assert_eq!(seen.len(), ROWS as usize);
    }
}

/// Changes of one field, each of which reads the row and writes it at the version that it
/// has read.
async fn no_update_is_lost(store: impl Items) {
    const ROWS: i64 = 4;
    const CHANGES: u32 = 200;
    let store = Arc::new(store);
    let mut ids = Vec::new();
    for index in 0..ROWS {
        let made = store.create(draft(&index.to_string(), 0, "ada")).await.unwrap();
        ids.push(made.value.id);
    }
    let mut clients = JoinSet::new();
    for client in 0..8_usize {
        let (store, ids) = (Arc::clone(&store), ids.clone());
        clients.spawn(async move {
            for change in 0..CHANGES / 8 {
                let id = ids[(client + change as usize) % ids.len()];
                loop {
                    let old = store.get(&id, &Scope::all()).await.unwrap().unwrap();
                    let new = Draft::<Item>::new([("price", json!(old.value.price + 1))]);
                    let expected = Expected::Version(old.version);
                    match store.replace(&id, new, expected, &Scope::all()).await {
                        Ok(_) => break,
                        Err(StoreError::Changed) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
        });
    }
    clients.join_all().await;
    let items = store.list(&Ask::new("id", 99)).await.unwrap().items;
    assert_eq!(items.iter().map(|item| item.value.price).sum::<u32>(), CHANGES);
}

async fn an_id_that_comes_back_has_a_new_version(store: impl Items) {
    let mut versions = BTreeSet::new();
    for _ in 0..5 {
        let mut new = draft("a", 1, "ada");
        new.set("id", 42);
        assert!(versions.insert(store.create(new).await.unwrap().version));
        for _ in 0..3 {
            let new = draft("a", 2, "ada");
            let changed = store.replace(&42, new, Expected::Any, &Scope::all()).await.unwrap();
            assert!(versions.insert(changed.version));
        }
        store.delete(&42, Expected::Any, &Scope::all()).await.unwrap();
    }
}

#[tokio::test]
async fn a_resource_is_told_what_its_table_cannot_do() {
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
        "there is no column secret",
        "category may be null, which has no place in an order",
        "the column tags has no order",
        "there is no column nothing",
    ];
    assert_eq!(doc.mistakes(), expected);

    // A name that is no column is never a part of a statement.
    let scope = Scope::eq("owner\" = '' OR \"id", "x");
    let outcome = store.list(&Ask { scope, ..Ask::new("id", 9) }).await;
    assert!(matches!(outcome, Err(StoreError::Failed(_))));
}

/// Of PostgreSQL no text has U+0000.
#[tokio::test]
async fn a_prefix_may_have_any_character() {
    async fn check(store: impl Items) {
        for name in ["a\0b", "a\0bc", "a\0c", "a", "ab", "äb"] {
            store.create(draft(name, 1, "ada")).await.unwrap();
        }
        for (prefix, expected) in
            [("a\0b", &["a\0b", "a\0bc"][..]), ("a\0", &["a\0b", "a\0bc", "a\0c"]), ("ä", &["äb"])]
        {
            let values = vec![json!(prefix)];
            let filter = Filter { field: "name".to_owned(), op: Op::Prefix, values };
            let page = store.list(&Ask { filters: vec![filter], ..Ask::new("id", 9) }).await;
            let items = page.unwrap().items.into_iter();
            let names: Vec<_> = items.map(|item| item.value.name).collect();
            assert_eq!(names, expected, "{prefix:?}");
        }
    }
    check(engines::memory().store).await;
    check(engines::sqlite().await.store).await;
}

/// The memory store is the model of the others, and so is one of them.
#[test]
fn the_model_is_a_store() {
    fn is_store<S: Items>(_: &S) {}
    is_store(&MemoryStore::<Item>::new());
}
