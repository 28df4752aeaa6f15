//! Tests idempotency keys in tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use stockade_conformance as conformance;
use stockade_core::{HttpBody, Request};
use stockade_errors::StoreError;
use stockade_middleware::idempotency::{
    Idempotency, IdempotencyStore, Reservation, ReserveOutcome, ScopedKey,
};
use stockade_middleware::with_idempotency;
use stockade_routing::{App, Router, RouterOptions};
use stockade_sql::{Driver, SqlIdempotencyStore};
use tokio::task::JoinSet;

use super::{File, TestClock, count, own};

const HOUR: Duration = Duration::from_secs(3_600);

async fn open<D: Driver + Clone>(db: &D, clock: &TestClock) -> SqlIdempotencyStore<D> {
    SqlIdempotencyStore::open(db).await.unwrap().clock(clock.source())
}

fn key(number: u16, owner: u8) -> ScopedKey {
    let mut hash = [0; 32];
    hash[..2].copy_from_slice(&number.to_be_bytes());
    hash[2] = owner;
    ScopedKey::from_hashes(hash, [owner; 32])
}

fn claim(nonce: u8, lease: Duration) -> Reservation {
    Reservation { fingerprint: [1; 32], nonce: [nonce; 16], lease, remember_crash: None }
}

async fn keeps_its_promises(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await;
    conformance::idempotency_store(store, async |time| clock.advance(time)).await;
}

async fn bounds_the_keys_of_an_owner(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await.max_keys_per_owner(2);
    let take =
        async |number, owner, nonce| store.take(&key(number, owner), &claim(nonce, HOUR)).await;
    assert_eq!(take(1, 1, 1).await.unwrap(), ReserveOutcome::New);
    assert_eq!(take(2, 1, 1).await.unwrap(), ReserveOutcome::New);
    assert!(matches!(take(3, 1, 1).await, Err(StoreError::Full)));
    // Known keys and other owners are not affected.
    assert_eq!(take(2, 1, 1).await.unwrap(), ReserveOutcome::New);
    assert_eq!(take(2, 1, 2).await.unwrap(), ReserveOutcome::Running);
    assert_eq!(take(3, 2, 1).await.unwrap(), ReserveOutcome::New);
    // Expired keys do not count.
    clock.advance(HOUR);
    assert_eq!(take(3, 1, 1).await.unwrap(), ReserveOutcome::New);
}

async fn removes_a_bounded_number_of_expired_rows(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await;
    for number in 0..600 {
        store.take(&key(number, 1), &claim(1, Duration::from_secs(1))).await.unwrap();
    }
    assert_eq!(count(&db, "stockade_idempotency_keys").await, 600);
    for (number, expected) in [(1_000, 600 - 512 + 1), (1_001, 2)] {
        clock.advance(Duration::from_secs(10));
        store.take(&key(number, 1), &claim(1, HOUR)).await.unwrap();
        assert_eq!(count(&db, "stockade_idempotency_keys").await, expected);
    }
}

/// Creates the application of one process. Its request handler counts its runs.
fn app(store: impl IdempotencyStore + 'static, runs: &Arc<AtomicUsize>) -> Arc<App> {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    let runs = Arc::clone(runs);
    let handler = move |text: Bytes| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move { text }
    };
    let once = with_idempotency(Idempotency::new(store).wait(Duration::from_secs(60)));
    router.post("/x", handler).middleware(once);
    Arc::new(router.build().unwrap())
}

/// Resends a request while a busy machine keeps the store from responding in
/// time.
async fn send(app: &App, key: usize) -> String {
    loop {
        let request = http::Request::post("/x").header("idempotency-key", format!("\"{key}\""));
        let request = request.header("content-type", "text/plain").body(HttpBody::from("a"));
        let response = app.handle(Request::from(request.unwrap())).await;
        let status = response.status().as_u16();
        if status != 503 {
            let body = response.into_body().collect(1 << 20).await.unwrap();
            return format!("{status} {}", String::from_utf8_lossy(&body));
        }
        tokio::task::yield_now().await;
    }
}

/// Sends 20 duplicates of 20 requests concurrently to two processes.
async fn runs_each_request_once<D: Driver + Clone>(processes: [D; 2]) {
    let runs = Arc::default();
    let [here, there] = processes;
    let apps = [
        app(SqlIdempotencyStore::open(&here).await.unwrap(), &runs),
        app(SqlIdempotencyStore::open(&there).await.unwrap(), &runs),
    ];
    let mut duplicates = JoinSet::new();
    for number in 0..400 {
        let app = Arc::clone(&apps[number % 2]);
        duplicates.spawn(async move { send(&app, number / 20).await });
    }
    for answer in duplicates.join_all().await {
        assert_eq!(answer, "200 a");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_passes_the_idempotency_suite() {
    let file = File::new().await;
    keeps_its_promises(file.db.clone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_custom_driver_passes_the_idempotency_suite() {
    keeps_its_promises(own()).await;
}

#[tokio::test]
async fn sqlite_bounds_the_keys_of_an_owner() {
    let file = File::new().await;
    bounds_the_keys_of_an_owner(file.db.clone()).await;
}

#[tokio::test]
async fn sqlite_removes_a_bounded_number_of_expired_keys() {
    let file = File::new().await;
    removes_a_bounded_number_of_expired_rows(file.db.clone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_with_a_sqlite_file_run_each_request_once() {
    let file = File::new().await;
    runs_each_request_once([file.db.clone(), file.reopen()]).await;
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::stores::postgres::pools;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn passes_the_idempotency_suite() {
        let [db] = pools().await;
        keeps_its_promises(db).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn passes_the_suite_with_the_server_clock() {
        let [db] = pools().await;
        let store = SqlIdempotencyStore::open(&db).await.unwrap();
        conformance::idempotency_store(store, tokio::time::sleep).await;
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn bounds_the_keys_of_one_owner() {
        let [db] = pools().await;
        bounds_the_keys_of_an_owner(db).await;
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn removes_a_bounded_number_of_expired_keys() {
        let [db] = pools().await;
        removes_a_bounded_number_of_expired_rows(db).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn two_processes_run_each_request_once() {
        runs_each_request_once(pools().await).await;
    }
}
