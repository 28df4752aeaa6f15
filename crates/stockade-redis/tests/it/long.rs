//! Timing tests for an idle machine: `cargo xtask redis --long`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use stockade_redis::{Redis, RedisOptions, RedisRateLimits};
use stockade_stages::rate_limit::{ChargeOutcome, HOUR, RateKey, RateLimitPolicy, RateStore as _};
use tokio::task::JoinSet;

use crate::engine::Engine;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn the_time_of_a_charge() {
    let engine = Engine::start();
    let redis = Redis::open(&engine.url(), RedisOptions::new().prefix("shop")).unwrap();
    let store = Arc::new(redis.rate_limits());
    let policy = RateLimitPolicy::new("default", 1_000_000 / HOUR).unwrap();
    let charge = async |store: &RedisRateLimits, key: &RateKey, policy: &RateLimitPolicy| {
        let begin = Instant::now();
        if let ChargeOutcome::Pending(decision) = store.charge(key, policy, Duration::ZERO) {
            let _ = decision.await;
        }
        begin.elapsed()
    };

    // 5,000 per second: five each millisecond.
    let mut charges = JoinSet::new();
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    for round in 0..5_000 {
        tick.tick().await;
        for client in 0..5 {
            let (store, policy) = (Arc::clone(&store), policy.clone());
            let key = RateKey::text(format!("client {}", (round + client) % 100));
            charges.spawn(async move { charge(&store, &key, &policy).await });
        }
    }
    let mut times = charges.join_all().await;
    times.sort_unstable();
    let part = |share: usize| times[times.len() * share / 1_000];
    eprintln!("charge: p50 {:?}, p99 {:?}, p99.9 {:?}", part(500), part(990), part(999));

    let (key, narrow) =
        (RateKey::text("refused"), RateLimitPolicy::new("narrow", 1 / HOUR).unwrap());
    charge(&store, &key, &narrow).await;
    charge(&store, &key, &narrow).await;
    let begin = Instant::now();
    for _ in 0..100_000 {
        assert!(matches!(store.charge(&key, &narrow, Duration::ZERO), ChargeOutcome::Ready(_)));
    }
    eprintln!("remembered refusal: {:?}", begin.elapsed() / 100_000);
}
