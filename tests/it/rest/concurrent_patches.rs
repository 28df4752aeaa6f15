//! Concurrent PATCHes through a resource.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stockade::prelude::*;
use stockade::rest::{MemoryStore, Store};
use stockade::testing::TestClient;

use super::suite::{Item, item, router};
use crate::support::long_or;

/// Changes `rows` items with `writes` concurrent PATCH requests and checks that
/// no update is lost. Each request adds one to a price at the version it has
/// read.
async fn no_update_is_lost<S: Store<Item> + Clone>(store: S, rows: usize, writes: usize) {
    let client = Arc::new(TestClient::new(router(store)).with_bearer("ada"));
    let mut places = Vec::new();
    for row in 0..rows {
        let made = client.post("/items").json(item(&format!("item {row}"), 0)).await;
        places.push(made.header("location").unwrap());
    }
    let places = Arc::new(places);
    let (next, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let (client, places) = (Arc::clone(&client), Arc::clone(&places));
        let (next, refused) = (Arc::clone(&next), Arc::clone(&refused));
        tasks.push(tokio::spawn(async move {
            loop {
                let write = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
                if write >= writes {
                    return;
                }
                let place = &places[write % places.len()];
                loop {
                    let read = client.get(place).await;
                    let price = read.json::<Value>()["price"].as_u64().unwrap();
                    // Lets another task change the item in the meantime.
                    tokio::task::yield_now().await;
                    let change = client.patch(place).json(json!({ "price": price + 1 }));
                    let change = change.header("if-match", read.header("etag").unwrap());
                    match change.await.status().as_u16() {
                        200 => break,
                        412 => drop(refused.fetch_add(1, Ordering::Relaxed)),
                        status => panic!("{status}"),
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut sum = 0;
    for place in places.iter() {
        sum += client.get(place).await.json::<Value>()["price"].as_u64().unwrap();
    }
    assert_eq!(sum, writes as u64);
    assert!(refused.load(Ordering::Relaxed) > 0 || rows > 1, "no two writes met");
}

#[test]
fn no_update_of_the_memory_store_is_lost() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(4).enable_time();
    let runtime = runtime.build().unwrap();
    let store = || MemoryStore::new().unique("name");
    runtime.block_on(no_update_is_lost(store(), 1, 500));
    runtime.block_on(no_update_is_lost(store(), 100, long_or(5_000, 1_000)));
}
