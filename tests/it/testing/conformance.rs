//! Checks the in-memory stores with the conformance tests for custom stores.

use stockade::middleware::idempotency::MemoryIdempotencyStore;
use stockade::middleware::rate_limit::{Algorithm, MemoryRateStore};
use stockade::middleware::sessions::MemorySessionStore;
use stockade::rest;
use stockade::testing::{TestClock, conformance};
use stockade::websockets::{MemoryHub, Order};

#[tokio::test]
async fn idempotency_keys_in_memory() {
    let clock = TestClock::new();
    let store = MemoryIdempotencyStore::new().clock(clock.for_route_limits());
    conformance::idempotency_store(store, async |time| clock.advance(time)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rate_limits_in_memory() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::Gcra] {
        let store = MemoryRateStore::new(algorithm, 100_000);
        conformance::rate_store(store, async |_| ()).await;
    }
}

#[tokio::test]
async fn resources_in_memory() {
    conformance::rest_store(async || rest::MemoryStore::new().unique("name")).await;
    for seed in 2..20 {
        let store = rest::MemoryStore::new().unique("name");
        conformance::rest_store_operations(store, seed, 200).await;
    }
}

#[tokio::test]
async fn rooms_in_memory() {
    for order in [Order::Local, Order::Room] {
        let hub = MemoryHub::new(order);
        conformance::backplane(order, || hub.backplane()).await;
    }
}

#[tokio::test]
async fn sessions_in_memory() {
    let clock = TestClock::new();
    let store = MemorySessionStore::new().clock(clock.for_route_limits());
    conformance::session_store(store, async |time| clock.advance(time)).await;
}
