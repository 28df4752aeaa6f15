//! The stores in memory keep the promises that own ones are checked by.

use stockade::middleware::idempotency::MemoryIdempotencyStore;
use stockade::middleware::sessions::MemorySessionStore;
use stockade::testing::{TestClock, conformance};

#[tokio::test]
async fn idempotency_keys_in_memory() {
    let clock = TestClock::new();
    let store = MemoryIdempotencyStore::new().clock(clock.for_route_limits());
    conformance::idempotency_store(store, async |time| clock.advance(time)).await;
}

#[tokio::test]
async fn sessions_in_memory() {
    let clock = TestClock::new();
    let store = MemorySessionStore::new().clock(clock.for_route_limits());
    conformance::session_store(store, async |time| clock.advance(time)).await;
}
