//! Tests the log: an outage logs one line at error level, its end one line at
//! info level, and no line contains secrets.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use stockade_redis::{Redis, RedisOptions};
use stockade_stages::rate_limit::{ChargeOutcome, HOUR, RateKey, RateLimitPolicy, RateStore as _};

use crate::engine::Engine;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Watch;

impl log::Log for Watch {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "stockade"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            LINES.lock().unwrap().push(format!("{} {}", record.level(), record.args()));
        }
    }

    fn flush(&self) {}
}

/// Sends commands until the link is in this state.
async fn charge_until(redis: &Redis, is_up: bool) {
    let (key, policy) = (RateKey::shared(), RateLimitPolicy::new("default", 1_000 / HOUR).unwrap());
    let store = redis.rate_limits();
    let begin = Instant::now();
    while redis.health().is_up() != is_up {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        if let ChargeOutcome::Pending(decision) = store.charge(&key, &policy, Duration::ZERO) {
            // Fails while the server is down.
            let _ = decision.await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn logs_an_outage_and_its_end_once_each() {
    let mut engine = Engine::start();
    log::set_logger(&Watch).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let redis = Redis::open(&engine.url(), RedisOptions::new().prefix("shop")).unwrap();
    charge_until(&redis, true).await;
    let address = format!("127.0.0.1:{}", engine.port);
    for _ in 0..2 {
        engine.kill();
        charge_until(&redis, false).await;
        // Further commands do not log anything.
        for _ in 0..20 {
            charge_until(&redis, false).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        engine.restart();
        charge_until(&redis, true).await;
    }
    let all = LINES.lock().unwrap().clone();
    assert!(all.iter().all(|line| !line.contains("secret")), "{all:?}");
    let lines: Vec<&String> = all.iter().filter(|line| line.contains(&address)).collect();
    let is_down = |line: &str| line.starts_with("ERROR redis ") && line.contains(" is down: ");
    let is_up =
        |line: &str| line.starts_with("INFO redis ") && line.contains(" is up again after ");
    let count = |is: &dyn Fn(&str) -> bool| lines.iter().filter(|line| is(line)).count();
    // On a busy machine the server may have been late at other times too.
    assert!(count(&is_down) >= 2 && count(&is_down) == count(&is_up), "{lines:?}");
    let in_turn = lines.iter().filter(|line| is_down(line) || is_up(line)).enumerate();
    for (index, line) in in_turn {
        assert_eq!(is_down(line), index % 2 == 0, "{lines:?}");
    }
}
