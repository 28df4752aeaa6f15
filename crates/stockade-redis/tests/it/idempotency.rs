//! Tests the idempotency store: the guarantees of its trait, over several
//! links, and when processes and the server die.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use stockade_conformance as conformance;
use stockade_core::{HttpBody, Request};
use stockade_errors::StoreError;
use stockade_middleware::idempotency::{
    Idempotency, IdempotencyStore as _, Reservation, ReserveOutcome, ScopedKey,
};
use stockade_middleware::with_idempotency;
use stockade_redis::RedisIdempotencyStore;
use stockade_routing::{App, Router, RouterOptions};
use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::stores::linked;

/// Opens a store with a deadline that a busy machine can meet.
fn open(url: &str) -> RedisIdempotencyStore {
    linked(url).idempotency().deadline(Duration::from_secs(10))
}

/// Creates an application with a request handler that counts its runs and never
/// ends for `hang`.
fn app(options: Idempotency, runs: &Arc<AtomicUsize>) -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    let runs = Arc::clone(runs);
    let handler = move |text: Bytes| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move {
            if &*text == b"hang" {
                std::future::pending::<()>().await;
            }
            text
        }
    };
    router.post("/x", handler).middleware(with_idempotency(options));
    router.build().unwrap()
}

/// Sends a request with a key and returns `status body`.
async fn send(app: &App, key: &str, text: &'static str) -> String {
    let request = http::Request::post("/x").header("idempotency-key", format!("\"{key}\""));
    let request = request.header("content-type", "text/plain").body(HttpBody::from(text)).unwrap();
    let response = app.handle(Request::from(request)).await;
    let (status, body) = (response.status().as_u16(), response.into_body());
    format!("{status} {}", String::from_utf8_lossy(&body.collect(1 << 20).await.unwrap()))
}

/// Resends a request if the store did not respond within one second because the
/// machine is busy. This happens before the request handler runs.
async fn until_answered(app: &App, key: &str) -> String {
    loop {
        let answer = send(app, key, "a").await;
        if !answer.starts_with("503") {
            return answer;
        }
        // The link needs processor time to reconnect.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn passes_the_conformance_suite() {
    let engine = Engine::start();
    conformance::idempotency_store(open(&engine.url()), tokio::time::sleep).await;
    // All remaining keys expire.
    for key in engine.list(&["KEYS", "*"]) {
        assert_ne!(engine.admin(&["PTTL", &key]), ":-1", "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn one_of_twenty_duplicates_on_three_processes_runs() {
    let engine = Engine::start();
    let runs = Arc::new(AtomicUsize::new(0));
    let apps = [0, 1, 2].map(|_| {
        let options = Idempotency::new(open(&engine.url())).wait(Duration::from_secs(60));
        Arc::new(app(options, &runs))
    });
    let begin = Instant::now();
    let mut workers = JoinSet::new();
    for worker in 0..20 {
        let apps = apps.clone();
        workers.spawn(async move {
            for key in (worker * 50)..(worker + 1) * 50 {
                let mut duplicates = JoinSet::new();
                for number in 0..20 {
                    let app = Arc::clone(&apps[number % 3]);
                    duplicates
                        .spawn(async move { until_answered(&app, &format!("k-{key}")).await });
                }
                for answer in duplicates.join_all().await {
                    assert_eq!(answer, "200 a");
                }
            }
        });
    }
    workers.join_all().await;
    assert_eq!(runs.load(Ordering::SeqCst), 1_000);
    eprintln!("1,000 keys, 20,000 requests over 3 links: 1,000 runs in {:?}", begin.elapsed());
}

/// The process that the next test kills. It takes a key, and its request
/// handler never ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a parent that kills it: cargo xtask redis"]
async fn victim() {
    let url = std::env::var("STOCKADE_REDIS_VICTIM").unwrap();
    let options = Idempotency::new(open(&url)).lease(Duration::from_secs(2));
    send(&app(options, &Arc::default()), "k", "hang").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_killed_process_frees_its_key_after_the_lease() {
    let engine = Engine::start();
    let program = std::env::current_exe().unwrap();
    let mut victim = Command::new(program);
    victim
        .args(["--exact", "idempotency::victim", "--ignored"])
        .env("STOCKADE_REDIS_VICTIM", engine.url());
    let mut victim = victim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while engine.admin(&["DBSIZE"]) == ":0" {
        assert!(begin.elapsed() < Duration::from_secs(60), "the process took no key");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let runs = Arc::default();
    let app = app(Idempotency::new(open(&engine.url())).lease(Duration::from_secs(2)), &runs);
    assert!(send(&app, "k", "hang").await.starts_with("409"));
    victim.kill().unwrap();
    victim.wait().unwrap();
    let killed = Instant::now();
    assert!(send(&app, "k", "other").await.starts_with("422"));
    // This request handler would not end either, so the test checks only that
    // it starts.
    let app = Arc::new(app);
    let task = tokio::spawn(async move {
        while send(&app, "k", "hang").await.starts_with("409") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(killed.elapsed() < Duration::from_secs(60), "the key is not free");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    task.abort();
    eprintln!("free {:?} after the kill, with a lease of 2 s", killed.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn no_handler_runs_without_redis() {
    let mut engine = Engine::start();
    let runs = Arc::default();
    let app = app(Idempotency::new(open(&engine.url())), &runs);
    assert_eq!(send(&app, "a", "a").await, "200 a");
    engine.kill();
    let begin = Instant::now();
    for _ in 0..10 {
        assert!(send(&app, "b", "a").await.starts_with("503"));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    engine.restart();
    while !send(&app, "b", "a").await.starts_with("200") {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come back");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn one_owner_cannot_fill_the_store() {
    let engine = Engine::start();
    let store = open(&engine.url()).max_keys_per_owner(2);
    let key = |key, owner| ScopedKey::from_hashes([key; 32], [owner; 32]);
    let claim = claim();
    for number in [1, 2] {
        assert_eq!(store.take(&key(number, 1), &claim).await.unwrap(), ReserveOutcome::New);
    }
    assert!(matches!(store.take(&key(3, 1), &claim).await.unwrap_err(), StoreError::Full));
    assert_eq!(store.take(&key(4, 2), &claim).await.unwrap(), ReserveOutcome::New, "another owner");
    let other = Reservation { nonce: [9; 16], ..claim.clone() };
    assert_eq!(store.take(&key(1, 1), &other).await.unwrap(), ReserveOutcome::Running);
    assert!(store.free(&key(2, 1), &claim.nonce).await.unwrap());
    assert_eq!(store.take(&key(3, 1), &claim).await.unwrap(), ReserveOutcome::New);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn redis_without_memory_rejects_new_keys_and_keeps_old_ones() {
    let engine = Engine::start();
    let store = open(&engine.url());
    let key = |key| ScopedKey::from_hashes([key; 32], [7; 32]);
    let claim = claim();
    assert_eq!(store.take(&key(1), &claim).await.unwrap(), ReserveOutcome::New);
    engine.admin(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(matches!(store.take(&key(2), &claim).await.unwrap_err(), StoreError::Full));
    assert!(store.renew(&key(1), &claim).await.unwrap());
    let long = Bytes::from(vec![1; 1_000]);
    let ttl = Duration::from_secs(600);
    let refused = store.complete(&key(1), &claim.nonce, long, ttl).await;
    assert!(matches!(refused.unwrap_err(), StoreError::Full));
    // There is always room for the short form.
    let short = Bytes::from_static(b"not kept");
    assert!(store.complete(&key(1), &claim.nonce, short.clone(), ttl).await.unwrap());
    let other = Reservation { nonce: [9; 16], ..claim };
    assert_eq!(store.take(&key(1), &other).await.unwrap(), ReserveOutcome::Done(short));
}

fn claim() -> Reservation {
    let lease = Duration::from_secs(600);
    Reservation { fingerprint: [1; 32], nonce: [1; 16], lease, remember_crash: None }
}
