//! Tests changes over HTTP: concurrent clients that change the same rows do not
//! lose updates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use http::{Method, header};
use serde_json::{Value, json};
use stockade_core::{HttpBody, Response};
use stockade_rest::{Access, Operation, Resource};
use stockade_routing::{App, RouteTree, RouterOptions, create_router};
use tokio::task::JoinSet;

use super::rounds;
use crate::engines::{self, Items};
use crate::item::draft;

const ROWS: u32 = 100;

/// The number of clients. All change the same rows in the same order, so they
/// conflict.
const CLIENTS: u32 = 16;

fn app(store: impl Items) -> App {
    let items = Resource::new("item", store)
        .only([Operation::Get, Operation::Patch])
        .require_if_match(true)
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let tree = RouteTree::new().segment("items", items.routes());
    create_router(tree, RouterOptions::new().rate_limit(false)).build().unwrap()
}

async fn send(app: &App, method: Method, row: u32, tag: Option<&str>, body: String) -> Response {
    let mut request = http::Request::builder().method(method).uri(format!("/items/{row}"));
    if let Some(tag) = tag {
        request = request.header(header::IF_MATCH, tag);
        request = request.header(header::CONTENT_TYPE, "application/merge-patch+json");
    }
    app.handle(request.body(HttpBody::from(body)).unwrap()).await
}

/// Returns the price of a row and its entity tag.
async fn read(app: &App, row: u32) -> (u64, String) {
    let response = send(app, Method::GET, row, None, String::new()).await;
    assert_eq!(response.status(), 200);
    let tag = response.headers()[header::ETAG].to_str().unwrap().to_owned();
    let item: Value = serde_json::from_slice(response.body().as_bytes().unwrap()).unwrap();
    (item["price"].as_u64().unwrap(), tag)
}

/// Adds one to a price and retries on conflicts. Returns the number of
/// conflicts.
async fn add_one(app: &App, row: u32) -> u32 {
    let mut refused = 0;
    loop {
        let (price, tag) = read(app, row).await;
        // Let other clients change the row.
        tokio::task::yield_now().await;
        let change = json!({ "price": price + 1 }).to_string();
        let response = send(app, Method::PATCH, row, Some(&tag), change).await;
        match response.status().as_u16() {
            200 => return refused,
            412 => refused += 1,
            status => panic!("{status} {:?}", response.body().as_bytes()),
        }
    }
}

async fn no_patch_is_lost(name: &str, store: impl Items, writes: u32) {
    for row in 1..=ROWS {
        let made = store.create(draft(&format!("item {row}"), 0, "ada")).await.unwrap();
        assert_eq!(made.value.id, i64::from(row));
    }
    let app = Arc::new(app(store));
    let (next, refused) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (app, next, refused) = (Arc::clone(&app), Arc::clone(&next), Arc::clone(&refused));
        clients.spawn(async move {
            loop {
                let write = next.fetch_add(1, Ordering::Relaxed);
                if write >= writes {
                    return;
                }
                // Four consecutive writes change the same row.
                let meets = add_one(&app, write / 4 % ROWS + 1).await;
                refused.fetch_add(meets, Ordering::Relaxed);
            }
        });
    }
    clients.join_all().await;
    let took = begun.elapsed();
    let mut sum = 0;
    for row in 1..=ROWS {
        sum += read(&app, row).await.0;
    }
    let refused = refused.load(Ordering::Relaxed);
    assert_eq!(sum, u64::from(writes), "{name}: changes were lost");
    println!(
        "{name}: {writes} PATCHes of {ROWS} rows in {took:.1?}, none lost, {refused} got a 412"
    );
    assert!(refused > 0, "{name}: no two requests conflicted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_patch_of_sqlite_is_lost() {
    let engine = engines::sqlite().await;
    no_patch_is_lost("sqlite", engine.store.clone(), rounds(100_000, 300)).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn no_patch_of_postgres_is_lost() {
    let store = engines::postgres::items(&engines::postgres::few()).await;
    no_patch_is_lost("postgres", store, rounds(100_000, 300)).await;
}
