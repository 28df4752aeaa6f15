//! Tests the stores on a cluster and with Sentinel. The guarantees are the same
//! as on a single server.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::json;
use stockade_auth::{
    Claims, KeyRing, RevocationStatus as Status, Revocations, Secret, TokenVerifier, generate_jwt,
};
use stockade_conformance as conformance;
use stockade_middleware::SessionCookie;
use stockade_middleware::idempotency::{
    IdempotencyStore as _, Reservation, ReserveOutcome, ScopedKey,
};
use stockade_middleware::sessions::Sessions;
use stockade_redis::{Redis, RedisIdempotencyStore, RedisSessionStore};
use tokio::task::JoinSet;

use crate::cluster::Nodes;
use crate::sentinel::Group;

/// A deadline that a busy machine can meet.
const DEADLINE: Duration = Duration::from_secs(10);

fn sessions_of(redis: &Redis) -> RedisSessionStore {
    redis.sessions().deadline(DEADLINE)
}

fn idempotency_of(redis: &Redis) -> RedisIdempotencyStore {
    redis.idempotency().deadline(DEADLINE)
}

/// Returns the sessions of a process; each session holds a counter.
fn counting(redis: &Redis) -> Sessions<u64> {
    let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more").unwrap());
    Sessions::new(sessions_of(redis), SessionCookie::new(keys))
}

fn token(id: &str) -> Claims {
    let secret = Secret::new([7; 32]).unwrap();
    let token = generate_jwt(json!({ "jti": id, "sub": "ada" }), "1h", &secret).unwrap();
    TokenVerifier::new().verify(&token, &secret).unwrap()
}

/// Retries until a call succeeds, like a client.
async fn in_the_end<T, E: std::fmt::Debug>(
    what: &str,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> T {
    let begin = Instant::now();
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(error) => assert!(begin.elapsed() < PATIENCE, "{what}: {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a store call succeeds; the link may still be connecting.
async fn answered<T, E: std::fmt::Debug, F: Future<Output = Result<T, E>>>(
    what: &str,
    mut call: impl FnMut() -> F,
) -> T {
    let begin = Instant::now();
    loop {
        match call().await {
            Ok(done) => return done,
            Err(error) => assert!(begin.elapsed() < PATIENCE, "{what}: {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn all_say(nodes: &[Revocations], token: &Claims, expected: Status) {
    for node in nodes {
        in_the_end("a revocation", || match node.check(token) {
            status if status == expected => Ok(()),
            status => Err(status),
        })
        .await;
    }
}

/// Runs all stores over three links.
async fn stores_of(links: [Redis; 3]) {
    for link in &links {
        in_the_end("a link", || if link.health().is_up() { Ok(()) } else { Err(link) }).await;
    }
    let rates = links[0].rate_limits().deadline(DEADLINE);
    conformance::rate_store(rates, tokio::time::sleep).await;
    conformance::idempotency_store(idempotency_of(&links[0]), tokio::time::sleep).await;
    conformance::session_store(sessions_of(&links[0]), tokio::time::sleep).await;

    let made = AtomicUsize::new(0);
    let revocations = || links[made.fetch_add(1, Ordering::Relaxed) % 3].revocations();
    conformance::revocation_log(revocations).await;

    // The keys of twenty owners are spread over all masters of a cluster.
    for owner in 0..20 {
        let mut taken = JoinSet::new();
        for number in 0..12 {
            let store = idempotency_of(&links[number % 3]);
            let nonce = [u8::try_from(number).unwrap(); 16];
            taken.spawn(async move { store.take(&key(owner), &claim(nonce)).await.unwrap() });
        }
        let taken = taken.join_all().await;
        assert_eq!(taken.iter().filter(|it| **it == ReserveOutcome::New).count(), 1, "{taken:?}");
    }

    let nodes = links.each_ref().map(counting);
    let set = answered("begin", || nodes[0].begin(Some("ada"), &0)).await;
    let id = set.id().unwrap();
    let mut changes = JoinSet::new();
    for number in 0..60 {
        let node = nodes[number % 3].clone();
        changes.spawn(async move {
            loop {
                match node.change(&id, |count| *count += 1).await {
                    Ok(()) => return 0,
                    // A conflict is retried.
                    Err(error) if error.status() == 409 => {}
                    // On a busy machine, the store did not respond within its
                    // second.
                    Err(error) if error.status() == 503 => return 1,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    let unknown: u64 = changes.join_all().await.into_iter().sum();
    let count = answered("load", || nodes[1].load(&id)).await.unwrap().into_data();
    assert!((60 - unknown..=60).contains(&count), "{count}, and {unknown} of unknown outcome");
    answered("end", || nodes[2].end_all("ada")).await;
    assert!(answered("load", || nodes[0].load(&id)).await.is_none());
}

fn key(owner: u8) -> ScopedKey {
    ScopedKey::from_hashes([owner; 32], [owner; 32])
}

fn claim(nonce: [u8; 16]) -> Reservation {
    let lease = Duration::from_secs(600);
    Reservation { fingerprint: [1; 32], nonce, lease, remember_crash: None }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn stores_pass_the_conformance_suites_on_a_cluster() {
    let nodes = Nodes::start().await;
    stores_of([0, 1, 2].map(|_| nodes.open())).await;
    // All remaining keys expire, on each node.
    for engine in &nodes.engines[..3] {
        for key in engine.list(&["KEYS", "*"]) {
            assert_ne!(engine.admin(&["PTTL", &key]), ":-1", "{key}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn stores_pass_the_conformance_suites_behind_sentinel() {
    let group = Group::start().await;
    stores_of([0, 1, 2].map(|_| group.open())).await;
}

/// Checks that all replicated data survives a failover. Revocations survive in
/// any case.
async fn survives(links: [Redis; 3], fail_over: impl AsyncFnOnce()) {
    let (sessions, store) = (links.each_ref().map(counting), idempotency_of(&links[0]));
    let revocations = links.each_ref().map(Redis::revocations);
    all_say(&revocations, &token("none"), Status::NotRevoked).await;
    let set = answered("begin", || sessions[0].begin(Some("ada"), &7)).await;
    let (id, record) = (set.id().unwrap(), Bytes::from_static(b"a record"));
    for owner in 0..20 {
        let (key, claim) = (key(owner), claim([1; 16]));
        answered("take", || store.take(&key, &claim)).await;
        let life = Duration::from_secs(600);
        answered("complete", || store.complete(&key, &claim.nonce, record.clone(), life)).await;
    }
    let before = token("before");
    answered("revoke", || revocations[0].revoke(&before)).await;
    all_say(&revocations, &before, Status::Revoked).await;
    // Wait for the replicas to be in sync.
    tokio::time::sleep(Duration::from_millis(500)).await;
    fail_over().await;
    for node in &sessions {
        let session = answered("load", || node.load(&id)).await;
        assert_eq!(session.unwrap().into_data(), 7);
    }
    for owner in 0..20 {
        let (key, claim) = (key(owner), claim([2; 16]));
        let taken = answered("take", || store.take(&key, &claim)).await;
        assert_eq!(taken, ReserveOutcome::Done(record.clone()));
    }
    let after = token("after");
    answered("revoke", || revocations[1].revoke(&after)).await;
    for token in [&before, &after] {
        all_say(&revocations, token, Status::Revoked).await;
    }
    drop(answered("end", || sessions[2].end(&id)).await);
    assert!(answered("load", || sessions[0].load(&id)).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn stores_survive_a_failover_of_a_cluster() {
    let mut nodes = Nodes::start().await;
    let links = [0, 1, 2].map(|_| nodes.open());
    survives(links, async || {
        let master = nodes.master_of("shop:{session}:");
        nodes.engines[master].kill();
        nodes.failed_over(master).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn stores_survive_a_failover_by_sentinel() {
    let mut group = Group::start().await;
    let links = [0, 1, 2].map(|_| group.open());
    survives(links, async || {
        let from = group.master().unwrap();
        group.engines[from].kill();
        group.failed_over(from, false).await;
    })
    .await;
}

const PATIENCE: Duration = Duration::from_secs(60);
