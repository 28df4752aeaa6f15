//! Compares the Redis stores with the in-memory stores: the same random calls
//! must have the same outcomes. The clocks of the two stores differ, so other
//! tests cover times.

use std::time::Duration;

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_errors::StoreError;
use stockade_errors::random::Random;
use stockade_middleware::idempotency::{
    IdempotencyStore, MemoryIdempotencyStore, Reservation, ScopedKey,
};
use stockade_middleware::sessions::{
    MemorySessionStore, NewSession, ReplacedSession, SessionKey, SessionStore, Subject, SubjectKey,
};

use crate::engine::Engine;
use crate::stores::linked;

fn byte(random: &mut Random, end: u64) -> u8 {
    u8::try_from(random.below(end)).unwrap()
}

fn record(random: &mut Random) -> Bytes {
    let length = random.index(30);
    vec![byte(random, 256); length].into()
}

const LONG: Duration = Duration::from_secs(600);
const SEEDS: [u64; 4] = [1, 7, 4_711, 0x2545_f491_4f6c_dd1d];

/// The number of steps per seed: many more with `cargo xtask redis --long`.
fn steps() -> u32 {
    if std::env::var("STOCKADE_REDIS_LONG").is_ok() { 25_000 } else { 1_000 }
}

async fn call_idempotency(store: &impl IdempotencyStore, numbers: &mut Random) -> String {
    let (key, owner) = (byte(numbers, 6), byte(numbers, 2));
    let key = ScopedKey::from_hashes([key; 32], [owner; 32]);
    let nonce = [byte(numbers, 3); 16];
    let remember_crash = (numbers.below(2) == 0).then_some(LONG);
    let fingerprint = [byte(numbers, 2); 32];
    let claim = Reservation { fingerprint, nonce, lease: LONG, remember_crash };
    let call = numbers.below(6);
    let told = |outcome: Result<bool, _>| format!("{:?}", outcome.map_err(|error| full(&error)));
    match call {
        0..=2 => format!("{:?}", store.take(&key, &claim).await.map_err(|error| full(&error))),
        3 => told(store.renew(&key, &claim).await),
        4 => told(store.complete(&key, &nonce, record(numbers), LONG).await),
        _ => told(store.free(&key, &nonce).await),
    }
}

fn full(error: &StoreError) -> &'static str {
    assert!(matches!(error, StoreError::Full), "{error}");
    "full"
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn idempotency_keys_match_the_memory_store() {
    let engine = Engine::start();
    for seed in SEEDS {
        engine.admin(&["FLUSHALL"]);
        // No owner reaches the limit, because the stores differ there: the
        // in-memory store replaces a finished key, and Redis rejects the new
        // one.
        let redis = linked(&engine.url()).idempotency().deadline(Duration::from_secs(10));
        let model = MemoryIdempotencyStore::new();
        let mut numbers = [Random::new(seed), Random::new(seed)];
        for step in 0..steps() {
            let [one, two] = &mut numbers;
            let actual = call_idempotency(&redis, one).await;
            let expected = call_idempotency(&model, two).await;
            assert_eq!(actual, expected, "step {step} of {seed}");
        }
    }
}

async fn call_sessions(
    store: &impl SessionStore,
    keys: &[SessionKey],
    numbers: &mut Random,
) -> String {
    let mut key = || keys[usize::try_from(numbers.below(6)).unwrap()];
    let (key, other) = (key(), key());
    let (version, subject) = (1 + numbers.below(3), ["ada", "bob"][usize::from(byte(numbers, 2))]);
    let data = record(numbers);
    match numbers.below(9) {
        // A new session has a new key.
        0..=2 => {
            if store.load(&key).await.unwrap().is_some() {
                return String::new();
            }
            let replaces = (numbers.below(2) == 0 && other != key)
                .then_some(ReplacedSession { key: other, version });
            let subject = (numbers.below(3) > 0).then(|| Subject::of("session", subject));
            let new = NewSession { subject, data, idle: LONG, lifetime: LONG, replaces };
            format!("{:?}", store.create(&key, new).await.unwrap())
        }
        3 | 4 => format!("{:?}", store.update(&key, version, data, LONG).await.unwrap()),
        5 => format!("{:?}", store.touch(&key, LONG).await.unwrap()),
        6 => format!("{:?}", store.destroy(&key).await.unwrap()),
        7 if version == 3 => {
            format!("{:?}", store.destroy_all(&SubjectKey::of("session", subject)).await.unwrap())
        }
        _ => {
            let stored = store.load(&key).await.unwrap();
            format!("{:?}", stored.map(|it| (it.subject, it.data, it.version)))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn sessions_match_the_memory_store() {
    let engine = Engine::start();
    for seed in SEEDS {
        engine.admin(&["FLUSHALL"]);
        let redis = linked(&engine.url()).sessions().deadline(Duration::from_secs(10));
        let model = MemorySessionStore::new();
        let keys = [0; 6].map(|_| SessionKey::of("session", &SessionId::generate().unwrap()));
        let mut numbers = [Random::new(seed), Random::new(seed)];
        for step in 0..steps() {
            let [one, two] = &mut numbers;
            let actual = call_sessions(&redis, &keys, one).await;
            let expected = call_sessions(&model, &keys, two).await;
            assert_eq!(actual, expected, "step {step} of {seed}");
        }
    }
}
