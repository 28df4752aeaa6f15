//! Checks the guarantees of single items and of writes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use stockade_rest::{ListQuery, NewRow, RowFilter, Store, StoreError, Version, VersionCheck};
use tokio::task::JoinSet;

use super::{RestItem, done, fails_with, got, listed};
use crate::equal;
use crate::fail::{fail, or_fail};

fn draft(name: &str, price: u32) -> NewRow<RestItem> {
    RestItem::draft(name, price, "ada")
}

pub(super) async fn values_are_returned_unchanged(store: impl Store<RestItem>) {
    let promise = "values remain unchanged";
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
        let name = extra.to_string();
        let mut new = draft(&name, u32::MAX);
        new.set("extra", extra.clone());
        new.set("rating", rating);
        new.set("tags", json!(["", "\"", "é"]));
        new.set("open", false);
        let made = done(promise, store.create(new).await);
        let found = got(promise, &store, made.value.id).await;
        equal("an item is read as it was created", &found, &made);
        let expected = RestItem {
            id: made.value.id,
            name,
            price: u32::MAX,
            rating,
            category: None,
            open: false,
            owner: "ada".to_owned(),
            tags: ["", "\"", "é"].map(str::to_owned).to_vec(),
            extra: (!extra.is_null()).then_some(extra),
        };
        equal(promise, &found.value, &expected);
    }
}

pub(super) async fn ids_and_names_are_unique(store: impl Store<RestItem>) {
    let made = done("a first item", store.create(draft("a", 1)).await);
    let taken = StoreError::taken("name");
    fails_with("names are unique", store.create(draft("a", 2)).await, &taken);
    let mut again = draft("b", 1);
    again.set("id", made.value.id);
    fails_with("ids are unique", store.create(again).await, &StoreError::taken("id"));
    let other = done("a second item", store.create(draft("c", 1)).await).value.id;
    equal("the store chooses a different id for each item", &(other != made.value.id), &true);
    let outcome = store.replace(&other, draft("a", 3), VersionCheck::Any, &RowFilter::all()).await;
    fails_with("names stay unique when an item is replaced", outcome, &taken);
    let found = got("an item after a rejected write", &store, other).await.value;
    equal("a rejected write changes nothing", &(&*found.name, found.price), &("c", 1));
}

pub(super) async fn writes_check_the_expected_version(store: impl Store<RestItem>) {
    let made = done("a first item", store.create(draft("a", 1)).await);
    let (id, all) = (made.value.id, RowFilter::all());
    let first = VersionCheck::Version(made.version);
    let changed = store.replace(&id, draft("a", 2), first, &all).await;
    let changed = done("a write at the version of the item", changed);
    equal("a write creates a new version", &(changed.version != made.version), &true);
    for old in [first, VersionCheck::Version(Version(u64::MAX))] {
        let stale = store.replace(&id, draft("a", 3), old, &all).await;
        fails_with("a write at another version", stale, &StoreError::Changed);
        let stale = store.delete(&id, old, &all).await;
        fails_with("a deletion at another version", stale, &StoreError::Changed);
    }
    let found = got("an item after rejected writes", &store, id).await;
    equal("a write at another version changes nothing", &found, &changed);

    let deleted = store.delete(&id, VersionCheck::Version(changed.version), &all).await;
    done("a deletion at the version of the item", deleted);
    for expected in [VersionCheck::Any, first] {
        let missing = store.delete(&id, expected, &all).await;
        fails_with("a deletion of a deleted item", missing, &StoreError::Missing);
        let missing = store.replace(&id, draft("a", 3), expected, &all).await;
        fails_with("a write to a deleted item", missing, &StoreError::Missing);
    }
    for id in [id, i64::MIN] {
        let found = done("a missing item", store.get(&id, &all).await);
        equal("an unknown item", &found, &None);
    }
}

pub(super) async fn a_field_without_a_value_becomes_null_or_its_default(
    store: impl Store<RestItem>,
) {
    let all = RowFilter::all();
    let mut first = draft("a", 1);
    first.set("category", "tea");
    let id = done("a first item", store.create(first).await).value.id;
    let mut second = draft("b", 2);
    second.remove("category");
    second.remove("tags");
    let promise = "a field without a value becomes null or its default";
    let item = done(promise, store.replace(&id, second, VersionCheck::Any, &all).await).value;
    equal(promise, &(item.category, item.tags), &(None, Vec::new()));

    let third = NewRow::new([("price", json!(9))]);
    let promise = "a field that is missing from a draft is unchanged";
    let item = done(promise, store.replace(&id, third, VersionCheck::Any, &all).await).value;
    equal(promise, &(&*item.name, item.price, &*item.owner), &("b", 9, "ada"));
}

pub(super) async fn a_reused_id_gets_a_new_version(store: impl Store<RestItem>) {
    let promise = "a reused id gets a new version";
    let (mut versions, all) = (BTreeSet::new(), RowFilter::all());
    for _ in 0..5 {
        let mut new = draft("a", 1);
        new.set("id", 42);
        let mut assigned = vec![done(promise, store.create(new).await).version];
        for _ in 0..3 {
            let changed = store.replace(&42, draft("a", 2), VersionCheck::Any, &all).await;
            assigned.push(done(promise, changed).version);
        }
        for version in assigned {
            equal(promise, &versions.insert(version), &true);
        }
        done(promise, store.delete(&42, VersionCheck::Any, &all).await);
    }
}

/// Concurrent changes of one field: each reads the row and writes it at the
/// version that it read.
pub(super) async fn no_update_is_lost(store: impl Store<RestItem>) {
    const ROWS: usize = 4;
    const CLIENTS: usize = 8;
    const CHANGES: usize = 25;
    let store = Arc::new(store);
    let mut ids = Vec::new();
    for index in 0..ROWS {
        let made = store.create(draft(&index.to_string(), 0)).await;
        ids.push(done("an item", made).value.id);
    }
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (store, ids) = (Arc::clone(&store), ids.clone());
        clients.spawn(async move {
            for change in 0..CHANGES {
                add_one(&*store, ids[(client + change) % ids.len()]).await;
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        or_fail(client);
    }
    let items = listed("all items", &*store, &ListQuery::new("id", 99)).await.items;
    let sum: u32 = items.iter().map(|item| item.value.price).sum();
    equal("stored updates, out of 200 concurrent updates", &sum, &200);
}

async fn add_one(store: &impl Store<RestItem>, id: i64) {
    for _ in 0..100_000 {
        let old = got("an item with concurrent changes", store, id).await;
        // Other tasks run in between, even if the store never waits.
        tokio::task::yield_now().await;
        let new = NewRow::new([("price", json!(old.value.price + 1))]);
        let expected = VersionCheck::Version(old.version);
        match store.replace(&id, new, expected, &RowFilter::all()).await {
            Err(StoreError::Changed) => tokio::task::yield_now().await,
            outcome => {
                done("one of many concurrent writes", outcome);
                return;
            }
        }
    }
    fail("exactly one of many writes at one version must succeed: none did");
}
