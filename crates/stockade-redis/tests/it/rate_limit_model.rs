//! Compares the model of the rate-limit scripts, which the simulation uses,
//! with a real server: random charges on a clock that the test controls.
//!
//! With the server's clock, the test would have to wait for windows, and
//! results would be only approximate. A few lines of Lua before each script
//! replace `TIME` and the expiry of keys with a time from the call. Everything
//! else is the server's: its numbers, their text form and its data.

use std::time::{Instant, SystemTime};

use redis::aio::MultiplexedConnection;
use stockade_errors::random::Random;

use self::model::{Charge, Kind, Model};
use crate::engine::Engine;

#[path = "../../src/rate_limits/model.rs"]
mod model;

/// The seeds of each run, including seeds that once failed.
const SEEDS: [u64; 2] = [1, 4_711];

const KEYS: u64 = 8;
/// The number of steps that are sent at once.
const BATCH: u32 = 250;

#[derive(Clone, Copy, Debug)]
enum Step {
    Charge(Charge),
    /// The server loses a key.
    Lose(u64),
    /// A key loses its expiry.
    LoseExpiry(u64),
}

/// A sequence of steps from one seed.
struct Steps {
    numbers: Random,
    /// The limit and window of each key.
    policies: Vec<(u64, u64)>,
    now: u64,
}

impl Steps {
    fn new(kind: Kind, seed: u64) -> Self {
        let mut numbers = Random::new(seed);
        let policies = (0..KEYS).map(|_| {
            let limit = 1 + numbers.pick(&[3, 20, 1_000]);
            let limit = 1 + numbers.below(limit);
            let millis = numbers.pick(&[1, 10, 1_000, 60_000, 3_600_000]);
            let millis = millis + numbers.below(millis);
            // Two of the scripts have windows in whole microseconds.
            let window =
                if kind == Kind::Fixed { millis } else { millis * 1_000 + numbers.below(1_000) };
            (limit, window)
        });
        let policies = policies.collect();
        Self { numbers, policies, now: 1_800_000_000_000_000 }
    }

    fn next(&mut self) -> Step {
        let numbers = &mut self.numbers;
        let key = numbers.below(KEYS);
        match numbers.below(200) {
            0 => return Step::Lose(key),
            1 => return Step::LoseExpiry(key),
            // The clock of a promoted replica is behind.
            2 => self.now -= numbers.below(5_000_000),
            3..100 => {
                let scale = numbers.pick(&[10, 1_000, 100_000, 5_000_000, 600_000_000]);
                self.now += numbers.below(scale);
            }
            _ => {}
        }
        // The quota of a key changes occasionally.
        let is_other = numbers.below(20) == 0;
        let policy = if is_other { numbers.below(KEYS) } else { key };
        let (limit, window) = self.policies[usize::try_from(policy).unwrap()];
        let want = if numbers.below(2) == 0 { 1 } else { 1 + numbers.below(limit + limit / 2 + 1) };
        let least = if numbers.below(4) == 0 { want } else { 1 };
        Step::Charge(Charge { key, limit, window, want, least, now: self.now })
    }
}

fn code(kind: Kind) -> String {
    let script = match kind {
        Kind::Fixed => include_str!("../../src/rate_limits/fixed_window.lua"),
        Kind::Sliding => include_str!("../../src/rate_limits/sliding_window.lua"),
        Kind::Gcra => include_str!("../../src/rate_limits/gcra.lua"),
    };
    [include_str!("rate_limit_model.lua"), script].join("\n")
}

/// Compares the results of random steps.
async fn compare(connection: &mut MultiplexedConnection, kind: Kind, seed: u64, steps: u32) {
    let script = redis::Script::new(&code(kind));
    let hash: String =
        redis::cmd("SCRIPT").arg("LOAD").arg(code(kind)).query_async(connection).await.unwrap();
    assert_eq!(hash, script.get_hash());
    let (mut model, mut random) = (Model::new(kind), Steps::new(kind, seed));
    let mut done = 0;
    let name = |key: u64| format!("shop:{kind:?}:{seed}:{key}");
    while done < steps {
        let batch: Vec<Step> = (0..BATCH).map(|_| random.next()).collect();
        let mut pipe = redis::pipe();
        for step in &batch {
            match step {
                Step::Charge(Charge { key, limit, window, want, least, now }) => {
                    pipe.cmd("EVALSHA").arg(&hash).arg(1).arg(name(*key));
                    pipe.arg(&[*limit, *window, *want, *least, *now]);
                }
                Step::Lose(key) => {
                    pipe.del(&[name(*key), name(*key) + ":dies"]).ignore();
                }
                Step::LoseExpiry(key) => {
                    pipe.del(name(*key) + ":dies").ignore();
                }
            }
        }
        let answers: Vec<Vec<u64>> = pipe.query_async(connection).await.unwrap();
        let mut answers = answers.into_iter();
        for (at, step) in (done..).zip(&batch) {
            match step {
                Step::Charge(charge) => assert_eq!(
                    model.charge(charge),
                    answers.next().unwrap(),
                    "{kind:?}, seed {seed}, step {at}: {charge:?}"
                ),
                Step::Lose(key) => model.lose(*key),
                Step::LoseExpiry(key) => model.lose_expiry(*key),
            }
        }
        done += BATCH;
    }
}

#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn the_model_of_the_scripts_matches_redis() {
    let engine = Engine::start();
    let url = format!("redis://127.0.0.1:{}", engine.port);
    let client = redis::Client::open(url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    connection.set_response_timeout(std::time::Duration::from_secs(60));
    let is_long = std::env::var("STOCKADE_REDIS_LONG").is_ok();
    let steps = if is_long { 34_000 } else { 500 };
    let mut seeds = SEEDS.to_vec();
    if is_long {
        // A new seed in each run. A failure prints it.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        seeds.push(since.as_secs());
    }
    let begin = Instant::now();
    for kind in [Kind::Fixed, Kind::Sliding, Kind::Gcra] {
        for seed in &seeds {
            compare(&mut connection, kind, *seed, steps).await;
        }
    }
    eprintln!(
        "{} steps of each script: {:?}",
        u64::from(steps) * seeds.len() as u64,
        begin.elapsed()
    );
}
