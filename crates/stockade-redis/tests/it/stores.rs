//! A link for the store tests.

use std::thread;
use std::time::{Duration, Instant};

use stockade_redis::{Redis, RedisOptions};
use tokio::task::block_in_place;

/// Opens a link and waits until it is up, even on a busy machine. Requires a
/// multi-threaded runtime.
pub(crate) fn linked(url: &str) -> Redis {
    let redis = Redis::open(url, RedisOptions::new().prefix("shop")).unwrap();
    let begin = Instant::now();
    while !redis.health().is_up() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        block_in_place(|| thread::sleep(Duration::from_millis(5)));
    }
    redis
}
