//! Tests the rate limit store: exact over several links, and correct after
//! losses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use stockade_conformance as conformance;
use stockade_core::{HttpBody, Request};
use stockade_errors::ApiError;
use stockade_redis::{Redis, RedisOptions, RedisRateLimits};
use stockade_routing::{Method, RouteEntry, RouteTree, RouterOptions, create_router};
use stockade_stages::RateLimit;
use stockade_stages::rate_limit::{
    Algorithm, Charge, ChargeOutcome, Decision, HOUR, MINUTE, Quota, RateKey, RateLimitPolicy,
    RateStore, StoreFailure,
};
use tokio::task::JoinSet;

use crate::engine::Engine;

const ALL: [Algorithm; 3] = [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::Gcra];

/// Opens a store with a deadline that a busy machine can meet.
fn open(engine: &Engine) -> RedisRateLimits {
    let redis = Redis::open(&engine.url(), RedisOptions::new().prefix("shop")).unwrap();
    redis.rate_limits().deadline(Duration::from_secs(10))
}

async fn charge(store: &RedisRateLimits, key: &RateKey, policy: &RateLimitPolicy) -> Decision {
    match store.charge(key, policy, Duration::ZERO) {
        ChargeOutcome::Ready(decision) => decision,
        ChargeOutcome::Pending(decision) => decision.await.unwrap(),
    }
}

fn policy(quota: Quota) -> RateLimitPolicy {
    RateLimitPolicy::new("default", quota).unwrap()
}

/// Sends 3,000 concurrent requests over all stores and returns the number that
/// passed.
async fn flood(stores: &[Arc<RedisRateLimits>], key: &RateKey, policy: &RateLimitPolicy) -> u32 {
    let mut tasks = Vec::new();
    for connection in 0..30 {
        let (store, key) = (Arc::clone(&stores[connection % stores.len()]), key.clone());
        let policy = policy.clone();
        tasks.push(tokio::spawn(async move {
            let mut passed = 0;
            for _ in 0..100 {
                passed += u32::from(charge(&store, &key, &policy).await.allowed);
            }
            passed
        }));
    }
    let mut passed = 0;
    for task in tasks {
        passed += task.await.unwrap();
    }
    passed
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn passes_the_conformance_suite() {
    let engine = Engine::start();
    for algorithm in ALL {
        conformance::rate_store(open(&engine).algorithm(algorithm), tokio::time::sleep).await;
    }
    // All remaining keys expire.
    for key in engine.list(&["KEYS", "*"]) {
        assert_ne!(engine.admin(&["PTTL", &key]), ":-1", "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn exactly_100_of_3000_requests_pass_in_each_window() {
    let engine = Engine::start();
    let rounds = if std::env::var("STOCKADE_REDIS_LONG").is_ok() { 200 } else { 10 };
    for algorithm in ALL {
        let stores = [0, 1, 2].map(|_| Arc::new(open(&engine).algorithm(algorithm)));
        // The window is an hour, so GCRA does not free a request during the
        // test.
        let policy = policy(100 / HOUR);
        for round in 0..rounds {
            let key = RateKey::text(format!("client {round}"));
            assert_eq!(flood(&stores, &key, &policy).await, 100, "{algorithm:?} {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn leased_requests_never_exceed_the_limit() {
    let engine = Engine::start();
    let stores = [0, 1, 2].map(|_| Arc::new(open(&engine).leased(16)));
    let before = scripts(&engine);
    for round in 0..10 {
        let key = RateKey::text(format!("client {round}"));
        let passed = flood(&stores, &key, &policy(100 / HOUR)).await;
        // Each process may hold back 1/16 of the limit.
        assert!((82..=100).contains(&passed), "{passed} in {round}");
    }
    let few = scripts(&engine) - before;
    let key = RateKey::text("busy");
    for _ in 0..1_000 {
        assert!(charge(&stores[0], &key, &policy(100_000 / HOUR)).await.allowed);
    }
    let asked = scripts(&engine) - before - few;
    assert!(asked <= 100, "{asked} commands for 1,000 requests of a busy key");
}

/// Returns the number of scripts that the server has run.
fn scripts(engine: &Engine) -> u32 {
    let stats = engine.admin(&["INFO", "commandstats"]);
    let calls = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    calls.filter_map(|line| line.split(',').next()?.parse::<u32>().ok()).sum()
}

/// Tests `RateLimit::by` with two routers that share a server, like two
/// processes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_changed_quota_keeps_the_count_and_a_cost_is_indivisible() {
    let engine = Engine::start();
    for algorithm in ALL {
        let limit = RateLimit::by(|req: &Request| {
            let number = |name| req.headers().get(name)?.to_str().ok()?.parse::<u32>().ok();
            let key = req.headers().get("key")?.to_str().ok()?.to_owned();
            Some(Charge::new(key, number("limit")? / HOUR).cost(number("cost").unwrap_or(1)))
        });
        let apps = [0, 1].map(|_| {
            let store = Arc::new(open(&engine).algorithm(algorithm));
            let entry = RouteEntry::new(async || "x").rate_limit(limit.clone().store(store));
            let tree = RouteTree::new().method(Method::GET, entry);
            create_router(tree, RouterOptions::new().rate_limit(false)).build().unwrap()
        });
        let key = format!("{algorithm:?}");
        let send = async |app: usize, limit: u32, cost: u32| {
            let request = http::Request::get("/").header("key", &key).header("limit", limit);
            let request = request.header("cost", cost).body(HttpBody::empty()).unwrap();
            let response = apps[app].handle(request).await;
            let policy = response.headers()["ratelimit-policy"].to_str().unwrap();
            assert_eq!(policy, format!("\"route\";q={limit};w=3600"), "{algorithm:?}");
            let left = response.headers()["ratelimit"].to_str().unwrap().to_owned();
            let left = left.split(['=', ';']).nth(2).unwrap().parse::<u32>().unwrap();
            (response.status().as_u16(), left)
        };
        assert_eq!(send(0, 10, 4).await, (200, 6), "{algorithm:?}");
        assert_eq!(send(1, 10, 7).await.0, 429, "{algorithm:?}");
        assert_eq!(send(1, 10, 6).await, (200, 0), "{algorithm:?}");
        assert_eq!(send(0, 10, 1).await.0, 429, "{algorithm:?}");
        // The plan changes, and ten requests stay counted.
        assert_eq!(send(0, 100, 1).await, (200, 89), "{algorithm:?}");
        assert_eq!(send(1, 100, 89).await, (200, 0), "{algorithm:?}");
        assert_eq!(send(1, 100, 1).await.0, 429, "{algorithm:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_rejected_client_costs_no_command() {
    let engine = Engine::start();
    let (store, key, policy) = (open(&engine), RateKey::shared(), policy(5 / MINUTE));
    for _ in 0..6 {
        let _ = charge(&store, &key, &policy).await;
    }
    let before = scripts(&engine);
    for _ in 0..1_000 {
        let ChargeOutcome::Ready(decision) = store.charge(&key, &policy, Duration::ZERO) else {
            panic!("it is remembered");
        };
        assert!(!decision.allowed && decision.retry_after > Duration::from_secs(1));
    }
    assert_eq!(scripts(&engine), before);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_key_without_an_expiry_recovers() {
    let engine = Engine::start();
    let policy = policy(5 / MINUTE);
    let (store, key) = (open(&engine), RateKey::text("ann"));
    assert_eq!(charge(&store, &key, &policy).await.remaining, 4);
    let name = engine.admin(&["KEYS", "*"]);
    assert_eq!(name, "*1", "one key");
    let name = "shop:rate:fixed:5:60000000:default:key:ann";
    engine.admin(&["SET", name, "5"]);
    assert_eq!(engine.admin(&["PTTL", name]), ":-1");
    assert_eq!(charge(&store, &key, &policy).await.remaining, 4);
    assert!(engine.admin(&["PTTL", name]).trim_start_matches(':').parse::<u64>().unwrap() > 0);
    // A key of another type is a store outage and does not panic.
    engine.admin(&["DEL", name]);
    engine.admin(&["HSET", name, "a", "b"]);
    engine.admin(&["PEXPIRE", name, "60000"]);
    let ChargeOutcome::Pending(decision) = store.charge(&key, &policy, Duration::ZERO) else {
        panic!("the engine is asked");
    };
    assert_eq!(ApiError::from(decision.await.unwrap_err()).status(), 503);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn limits_whose_names_contain_colons_count_separately() {
    let engine = Engine::start();
    let store = open(&engine);
    let named = |name| RateLimitPolicy::new(name, 5 / MINUTE).unwrap();
    let keys = [("a", "b:key:c"), ("a:key:b", "c"), ("a:", "x"), ("a::", "x"), ("a", ":x")];
    for (name, key) in keys {
        let decision = charge(&store, &RateKey::text(key), &named(name)).await;
        assert_eq!(decision.remaining, 4, "{name} {key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_flushed_script_is_sent_again() {
    let engine = Engine::start();
    for algorithm in ALL {
        let store = open(&engine).algorithm(algorithm);
        for remaining in [2, 1, 0] {
            engine.admin(&["SCRIPT", "FLUSH"]);
            let decision = charge(&store, &RateKey::shared(), &policy(3 / HOUR)).await;
            assert_eq!((decision.allowed, decision.remaining), (true, remaining));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn keys_are_hidden_or_hashed() {
    let engine = Engine::start();
    let policy = policy(5 / MINUTE);
    let store = open(&engine).hash_keys("a secret");
    let _ = charge(&store, &RateKey::text("ann"), &policy).await;
    let _ = charge(&open(&engine), &RateKey::text("b".repeat(10_000)), &policy).await;
    let keys = engine.list(&["KEYS", "*"]);
    assert_eq!(keys.len(), 2);
    assert!(keys.iter().all(|key| key.starts_with("shop:rate:fixed:5:60000000:default:")));
    assert!(
        keys.iter().any(|key| key.contains(":mac:"))
            && keys.iter().any(|key| key.contains(":sha:"))
    );
    assert!(keys.iter().all(|key| !key.contains("ann") && key.len() < 120), "{keys:?}");
}

/// The decisions for 20 concurrent clients: by Redis, by the local share, and
/// failures.
#[derive(Default)]
struct Outcomes {
    shared: AtomicU32,
    local: AtomicU32,
    failed: AtomicU32,
}

/// Waits until a counter has grown by this number.
async fn wait_for(counter: &AtomicU32, more: u32) -> Duration {
    let (begin, before) = (Instant::now(), counter.load(Ordering::Relaxed));
    while counter.load(Ordering::Relaxed) < before + more {
        assert!(begin.elapsed() < Duration::from_secs(60), "no more than {counter:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    begin.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn clients_within_their_share_pass_if_redis_fails_under_load() {
    let mut engine = Engine::start();
    let redis = Redis::open(&engine.url(), RedisOptions::new().prefix("shop")).unwrap();
    let limit = RateLimit::from(10_000_000 / HOUR)
        .store(Arc::new(redis.rate_limits()))
        .on_store_failure(StoreFailure::Local { nodes: 2 });
    let limiter = limit.build().unwrap();
    let outcomes = Arc::new(Outcomes::default());
    let mut clients = JoinSet::new();
    for _ in 0..20 {
        let (limiter, outcomes) = (limiter.clone(), Arc::clone(&outcomes));
        clients.spawn(async move {
            loop {
                let outcome = match limiter.charge(&RateKey::shared(), Instant::now()) {
                    ChargeOutcome::Ready(decision) => Ok(decision),
                    ChargeOutcome::Pending(decision) => decision.await,
                };
                let counter = match outcome {
                    Ok(Decision { allowed: true, limit: 10_000_000, .. }) => &outcomes.shared,
                    Ok(Decision { allowed: true, limit: 5_000_000, .. }) => &outcomes.local,
                    _ => &outcomes.failed,
                };
                counter.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
    }
    wait_for(&outcomes.shared, 1_000).await;
    engine.kill();
    wait_for(&outcomes.local, 5_000).await;
    assert!(!redis.health().is_up());
    engine.restart();
    eprintln!("shared again after {:?}", wait_for(&outcomes.shared, 1_000).await);
    engine.freeze();
    wait_for(&outcomes.local, 5_000).await;
    engine.thaw();
    eprintln!("shared again after {:?}", wait_for(&outcomes.shared, 1_000).await);
    assert!(redis.health().is_up());
    assert_eq!(outcomes.failed.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_batch_is_one_command() {
    let engine = Engine::start();
    for algorithm in ALL {
        let store = open(&engine).algorithm(algorithm);
        let (key, policy) = (RateKey::text(format!("{algorithm:?}")), policy(10 / HOUR));
        let charge_n = |n: u32| store.charge_n(&key, &policy, n, Duration::ZERO);
        let before = scripts(&engine);
        for granted in [7, 3, 0] {
            assert_eq!(charge_n(7).await.unwrap().granted, granted);
        }
        // The rejection is remembered.
        assert!(!charge(&store, &key, &policy).await.allowed);
        assert!(scripts(&engine) - before <= 3, "{algorithm:?}");
    }
}
