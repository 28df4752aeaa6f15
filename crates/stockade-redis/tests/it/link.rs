//! Tests the link: its health reports, its rejections and its runtime.

use std::sync::Arc;
use std::time::{Duration, Instant};

use stockade_errors::ApiError;
use stockade_redis::{Health, Redis, RedisOptions, RedisRateLimits};
use stockade_stages::rate_limit::{
    ChargeOutcome, Decision, HOUR, RateKey, RateLimitPolicy, RateStore as _,
};
use tokio::runtime::Runtime;

use crate::engine::{Engine, url};

fn options() -> RedisOptions {
    RedisOptions::new().prefix("shop")
}

async fn charge(store: &RedisRateLimits) -> Result<Decision, ApiError> {
    let policy = RateLimitPolicy::new("default", 1_000 / HOUR).unwrap();
    match store.charge(&RateKey::shared(), &policy, Duration::ZERO) {
        ChargeOutcome::Ready(decision) => Ok(decision),
        ChargeOutcome::Pending(decision) => Ok(decision.await?),
    }
}

/// Waits until the link is down with this error.
async fn wait_for_error(redis: &Redis, expected: &str) -> String {
    let begin = Instant::now();
    loop {
        let health = redis.health();
        if let Health::Down { error, .. } = &health
            && error.contains(expected)
        {
            return error.clone();
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{health:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_link_without_redis_opens_and_fails_immediately() {
    let redis = Redis::open("redis://shop:secret@127.0.0.1:1", options()).unwrap();
    let error = wait_for_error(&redis, "refused").await;
    assert!(!error.contains("secret"));
    assert!(!format!("{redis:?}").contains("secret"), "{redis:?}");
    let store = redis.rate_limits().deadline(Duration::from_secs(60));
    let error = charge(&store).await.unwrap_err();
    let headers: Vec<_> = error.headers().collect();
    assert_eq!((error.status(), headers), (503, vec![("Retry-After", "1")]));
    assert!(error.message().contains("Redis is down"), "{error}");
}

#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn reports_a_wrong_password_without_showing_it() {
    let engine = Engine::start();
    let wrong = url(engine.port).replace("secret", "hidden");
    let redis = Redis::open(&wrong, options()).unwrap();
    let error = wait_for_error(&redis, "").await;
    let error =
        if error.contains("not connected") { wait_for_error(&redis, "uth").await } else { error };
    assert!(!error.contains("hidden") && !format!("{redis:?}").contains("hidden"), "{error}");
    assert!(charge(&redis.rate_limits()).await.is_err());
}

#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn rejects_a_replica() {
    let engine = Engine::start();
    engine.admin(&["REPLICAOF", "127.0.0.1", "1"]);
    let redis = Redis::open(&engine.url(), options()).unwrap();
    wait_for_error(&redis, "replica").await;
    engine.admin(&["REPLICAOF", "NO", "ONE"]);
    let begin = Instant::now();
    while charge(&redis.rate_limits()).await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(redis.health(), Health::Up);
}

#[test]
#[ignore = "needs redis-server: cargo xtask redis"]
fn a_link_outlives_the_runtime_that_opened_it() {
    let engine = Engine::start();
    let redis = Redis::open(&engine.url(), options()).unwrap();
    let store = redis.rate_limits().deadline(Duration::from_secs(60));
    for _ in 0..3 {
        let decision = Runtime::new().unwrap().block_on(charge(&store));
        assert!(decision.unwrap().allowed);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn commands_in_flight_are_bounded() {
    let engine = Engine::start();
    let redis = Redis::open(&engine.url(), options().max_in_flight(2)).unwrap();
    let store = Arc::new(redis.rate_limits().deadline(Duration::from_secs(60)));
    charge(&store).await.unwrap();
    engine.freeze();
    let waiting = [0, 1].map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { charge(&store).await })
    });
    let begin = Instant::now();
    loop {
        let store = Arc::clone(&store);
        let third = tokio::spawn(async move { charge(&store).await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        if third.is_finished() {
            let error = third.await.unwrap().unwrap_err();
            assert!(error.message().contains("too many commands"), "{error}");
            break;
        }
        third.abort();
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    engine.thaw();
    for waiting in waiting {
        // The connection may have been abandoned meanwhile.
        let _ = waiting.await.unwrap();
    }
}

#[test]
fn open_reports_errors_that_need_no_network() {
    let error = |url: &str, options: RedisOptions| {
        let error = Redis::open(url, options).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        error
    };
    let engine = "redis://shop:secret@127.0.0.1";
    assert!(error(engine, RedisOptions::new()).contains("prefix"));
    for wrong in ["a b", "a:b", "{a}", "ä", &"a".repeat(65)] {
        error(engine, RedisOptions::new().prefix(wrong));
    }
    error(engine, options().connect_timeout(Duration::ZERO).max_in_flight(0));
    assert!(error("shop:secret@127.0.0.1", options()).contains("redis://"));
}

#[cfg(feature = "metrics")]
#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn metrics_report_commands_and_connections() {
    let mut engine = Engine::start();
    let redis = Redis::open(&engine.url(), options()).unwrap();
    let metrics = stockade_stages::Metrics::new();
    metrics.add_source(redis.clone());
    let store = redis.rate_limits().deadline(Duration::from_secs(60));
    for _ in 0..3 {
        charge(&store).await.unwrap();
    }
    let name = format!("engine=\"127.0.0.1:{}\"", engine.port);
    let check = |lines: &[&str]| {
        let text = metrics.text();
        for line in lines {
            let line = line.replace("{E", &format!("{{{name}"));
            assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
        }
    };
    check(&[
        r#"stockade_redis_commands_total{E,kind="rate_limit",outcome="ok"} 3"#,
        r#"stockade_redis_command_duration_seconds_count{E,kind="rate_limit"} 3"#,
        "stockade_redis_up{E} 1",
        "stockade_redis_breaker_open{E} 0",
        "stockade_redis_reconnects_total{E} 0",
    ]);
    engine.kill();
    wait_for_error(&redis, "").await;
    assert!(charge(&store).await.is_err());
    check(&[
        r#"stockade_redis_commands_total{E,kind="rate_limit",outcome="down"} 1"#,
        "stockade_redis_up{E} 0",
    ]);
    engine.restart();
    let begin = Instant::now();
    while charge(&store).await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    check(&["stockade_redis_up{E} 1", "stockade_redis_reconnects_total{E} 1"]);
}
