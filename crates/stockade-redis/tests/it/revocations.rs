//! Tests that revocations reach all processes soon and are not lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use stockade_auth::{
    Claims, RevocationStatus as Status, Revocations, RevokeError, Secret, TokenVerifier, UnixClock,
    generate_jwt,
};
use stockade_conformance as conformance;
use stockade_redis::{Redis, RedisOptions};

use crate::engine::Engine;
use crate::stores::linked;

fn open(engine: &Engine) -> Revocations {
    Redis::open(&engine.url(), RedisOptions::new().prefix("shop")).unwrap().revocations()
}

/// Returns the claims of a valid token.
fn claims(payload: &Value) -> Claims {
    let secret = Secret::new([7; 32]).unwrap();
    let token = generate_jwt(payload, "1h", &secret).unwrap();
    TokenVerifier::new().verify(&token, &secret).unwrap()
}

fn token(id: &str) -> Claims {
    claims(&json!({ "jti": id, "sub": "ada" }))
}

/// Waits until a process reports this status for a token.
async fn wait_for(revocations: &Revocations, token: &Claims, expected: Status) {
    let begin = Instant::now();
    while revocations.check(token) != expected {
        assert!(begin.elapsed() < Duration::from_secs(60), "{expected:?} {revocations:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn started(engine: &Engine) -> [Revocations; 3] {
    let nodes = [0, 1, 2].map(|_| open(engine));
    for node in &nodes {
        wait_for(node, &token("none"), Status::NotRevoked).await;
    }
    nodes
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn passes_the_conformance_suite() {
    let engine = Engine::start();
    conformance::revocation_log(|| linked(&engine.url()).revocations()).await;
}

/// Measures the time until all processes have a revocation; part of the long
/// run.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn all_processes_soon_reject_a_token_revoked_by_one() {
    let engine = Engine::start();
    let nodes = started(&engine).await;
    let rounds = if std::env::var("STOCKADE_REDIS_LONG").is_ok() { 500 } else { 5 };
    let mut times = Vec::new();
    for round in 0..rounds {
        let token = token(&format!("token {round}"));
        let begin = Instant::now();
        nodes[round % 3].revoke(&token).await.unwrap();
        assert_eq!(nodes[round % 3].check(&token), Status::Revoked);
        for node in &nodes {
            wait_for(node, &token, Status::Revoked).await;
        }
        times.push(begin.elapsed());
    }
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    eprintln!("revoked in three processes: p50 {:?}, p99 {:?}", at(50), at(99));
}

/// Measures the cost of following an idle log; part of the long run.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn three_reading_processes_cost_little() {
    let engine = Engine::start();
    let _nodes = started(&engine).await;
    // Both in seconds: the server's CPU time, and the CPU time of this process
    // with its three links.
    let times = || {
        let info = engine.admin(&["INFO", "cpu"]);
        let of = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().trim().parse::<f64>().unwrap()
        };
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let ticks = stat.split(' ').skip(13).take(2).map(|word| word.parse::<f64>().unwrap());
        (of("used_cpu_user:") + of("used_cpu_sys:"), ticks.sum::<f64>() / 100.0)
    };
    let before = times();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let after = times();
    eprintln!(
        "three processes that read for a second: engine {:.2} ms of CPU, each process {:.2} ms",
        (after.0 - before.0) * 50.0,
        (after.1 - before.1) * 50.0 / 3.0,
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn refills_redis_after_it_restarts_empty() {
    let mut engine = Engine::start();
    let nodes = started(&engine).await;
    let old: Vec<Claims> = (0..1_200).map(|number| token(&format!("old {number}"))).collect();
    for (number, token) in old.iter().enumerate() {
        nodes[number % 3].revoke(token).await.unwrap();
    }
    for node in &nodes {
        for token in &old {
            wait_for(node, token, Status::Revoked).await;
        }
    }
    engine.kill();
    // It takes effect here at once; the other processes get it later.
    let meanwhile = token("meanwhile");
    let begin = Instant::now();
    while !matches!(nodes[0].revoke(&meanwhile).await, Err(RevokeError::Log(_))) {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    assert_eq!(nodes[0].check(&meanwhile), Status::Revoked);
    assert_eq!(nodes[1].check(&meanwhile), Status::NotRevoked);
    engine.restart();
    let new = open(&engine);
    for node in nodes.iter().chain([&new]) {
        for token in old.iter().chain([&meanwhile]) {
            wait_for(node, token, Status::Revoked).await;
        }
    }
    assert_eq!(new.count(), 1_201);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn restores_lost_data_while_others_write() {
    let engine = Engine::start();
    let nodes = started(&engine).await;
    for round in 0..5 {
        let (before, after) = (token(&format!("before {round}")), token(&format!("after {round}")));
        nodes[0].revoke(&before).await.unwrap();
        wait_for(&nodes[1], &before, Status::Revoked).await;
        engine.admin(&["FLUSHALL"]);
        engine.admin(&["SCRIPT", "FLUSH"]);
        // A new log starts, possibly with the same numbers.
        nodes[2].revoke(&after).await.unwrap();
        let new = open(&engine);
        for node in nodes.iter().chain([&new]) {
            wait_for(node, &before, Status::Revoked).await;
            wait_for(node, &after, Status::Revoked).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn status_is_unknown_before_contact() {
    let mut engine = Engine::start();
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let hands = Arc::new(AtomicU64::new(real));
    let clock = Arc::clone(&hands);
    let clock = UnixClock::new(move || clock.load(Ordering::Relaxed));
    let node = open(&engine).clock(clock);
    let (token, revoked) = (token("a"), token("b"));
    // Also before the first contact.
    assert_eq!(node.check(&token), Status::Unknown);
    wait_for(&node, &token, Status::NotRevoked).await;
    node.revoke(&revoked).await.unwrap();
    engine.kill();
    let begin = Instant::now();
    while !matches!(node.revoke(&revoked).await, Err(RevokeError::Log(_))) {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    hands.store(real + 30, Ordering::Relaxed);
    assert_eq!([node.check(&token), node.check(&revoked)], [Status::NotRevoked, Status::Revoked]);
    hands.store(real + 31, Ordering::Relaxed);
    assert_eq!([node.check(&token), node.check(&revoked)], [Status::Unknown; 2]);
    let accepting = node.clone().stale(stockade_auth::StalePolicy::Accept);
    assert_eq!(accepting.check(&revoked), Status::Revoked);
    engine.restart();
    wait_for(&node, &token, Status::NotRevoked).await;
    assert_eq!(node.check(&revoked), Status::Revoked);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn expired_entries_are_removed_from_redis() {
    let engine = Engine::start();
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let hands = Arc::new(AtomicU64::new(real));
    let clock = Arc::clone(&hands);
    let node = open(&engine).clock(UnixClock::new(move || clock.load(Ordering::Relaxed)));
    for number in 0..20 {
        node.revoke(&token(&format!("token {number}"))).await.unwrap();
    }
    let long = claims(&json!({ "jti": "long", "sub": "ada" }));
    node.revoke_for(&long, Duration::from_secs(86_400)).await.unwrap();
    // Twenty-one entries and the counter.
    assert_eq!(engine.admin(&["ZCARD", "shop:{revoked}"]), ":22");
    let kept = |text: String| text.trim_start_matches(':').parse::<u64>().unwrap();
    assert!(kept(engine.admin(&["PTTL", "shop:{revoked}"])) > 86_000_000);
    hands.store(real + 3_600 + 601, Ordering::Relaxed);
    let begin = Instant::now();
    while engine.admin(&["ZCARD", "shop:{revoked}"]) != ":2" {
        assert!(begin.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(node.count(), 1);
    wait_for(&node, &long, Status::Revoked).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn queries_redis_beyond_the_bound() {
    let mut engine = Engine::start();
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let hands = Arc::new(AtomicU64::new(real));
    let node = || {
        let clock = Arc::clone(&hands);
        open(&engine).max_entries(3).clock(UnixClock::new(move || clock.load(Ordering::Relaxed)))
    };
    let nodes = [node(), node(), node()];
    for node in &nodes {
        wait_for(node, &token("none"), Status::NotRevoked).await;
    }
    let good = claims(&json!({ "jti": "good", "sub": "bob" }));
    let kept = ["a", "b", "c"].map(token);
    for token in &kept {
        nodes[0].revoke(token).await.unwrap();
        wait_for(&nodes[1], token, Status::Revoked).await;
        wait_for(&nodes[2], token, Status::Revoked).await;
    }
    // Redis is not queried while the log has room.
    assert_eq!(nodes[1].check(&good), Status::NotRevoked);
    let more: Vec<Claims> =
        (0..20).map(|id| claims(&json!({ "jti": id.to_string(), "sub": "eve" }))).collect();
    for token in &more {
        nodes[0].revoke(token).await.unwrap();
        assert_eq!(nodes[0].check_or_query(token).await, Status::Revoked);
    }
    let of_ada = claims(&json!({ "jti": "d", "sub": "ada" }));
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(real + 60);
    nodes[1].revoke_before(None, "ada", later).await.unwrap();
    // An earlier time does not undo a revocation.
    nodes[2].revoke_before(None, "ada", SystemTime::UNIX_EPOCH).await.unwrap();
    let new = node();
    wait_for(&new, &kept[0], Status::Revoked).await;
    for node in nodes.iter().chain([&new]) {
        wait_for(node, &good, Status::Inconclusive).await;
        assert_eq!(node.check_or_query(&good).await, Status::NotRevoked);
        for token in more.iter().chain(&kept).chain([&of_ada]) {
            assert_eq!(node.check_or_query(token).await, Status::Revoked, "{node:?}");
        }
        assert_eq!(node.count(), 3);
    }
    // A result is valid for 5 s.
    hands.store(real + 5, Ordering::Relaxed);
    assert_eq!(nodes[1].check(&good), Status::NotRevoked);
    hands.store(real + 6, Ordering::Relaxed);
    assert_eq!(nodes[1].check(&good), Status::Inconclusive);

    engine.kill();
    let one_more = token("one more");
    let begin = Instant::now();
    while !matches!(nodes[0].revoke(&one_more).await, Err(RevokeError::Beyond(_))) {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    // Earlier results are valid for 30 s and revocations forever. The status of
    // other tokens is unknown.
    hands.store(real + 20, Ordering::Relaxed);
    assert_eq!(nodes[1].check_or_query(&good).await, Status::NotRevoked);
    assert_eq!(nodes[1].check_or_query(&more[7]).await, Status::Revoked);
    let new = claims(&json!({ "jti": "new", "sub": "new" }));
    assert_eq!(nodes[1].check_or_query(&new).await, Status::Unknown);
    let accepting = nodes[1].clone().stale(stockade_auth::StalePolicy::Accept);
    assert_eq!(accepting.check_or_query(&new).await, Status::NotRevoked);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn entries_beyond_the_bound_expire() {
    let engine = Engine::start();
    let node = open(&engine).max_entries(1);
    wait_for(&node, &token("none"), Status::NotRevoked).await;
    node.revoke(&token("a")).await.unwrap();
    node.revoke(&token("b")).await.unwrap();
    let keys = engine.list(&["KEYS", "shop:{revoked}:*"]);
    assert_eq!(keys.len(), 1);
    let life = engine.admin(&["PTTL", &keys[0]]);
    let life: u64 = life.trim_start_matches(':').parse().unwrap();
    // An hour, ten minutes for clock differences, and one more minute.
    assert!((4_200_000..=4_261_000).contains(&life), "{life}");
    // One entry, the note and the counter.
    assert_eq!(engine.admin(&["ZCARD", "shop:{revoked}"]), ":3");
}

#[test]
#[ignore = "needs redis-server: cargo xtask redis"]
fn can_be_created_before_the_runtime() {
    let engine = Engine::start();
    let node = open(&engine);
    for _ in 0..2 {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let token = token(&format!("{runtime:?}"));
        runtime.block_on(async {
            node.revoke(&token).await.unwrap();
            wait_for(&node, &token, Status::Revoked).await;
            wait_for(&open(&engine), &token, Status::Revoked).await;
        });
    }
}
