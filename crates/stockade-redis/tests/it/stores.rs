//! [`linked`]: a link for the tests of stores.

use std::thread;
use std::time::{Duration, Instant};

use stockade_redis::{Redis, RedisOptions};
use tokio::task::block_in_place;

/// Opens a link, and waits until it is up, however busy the machine is. It needs a
/// runtime of several threads.
pub(crate) fn linked(url: &str) -> Redis {
    let redis = Redis::open(url, RedisOptions::new().prefix("shop")).unwrap();
    let begin = Instant::now();
    while !redis.health().is_up() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        block_in_place(|| thread::sleep(Duration::from_millis(5)));
    }
    redis
}
