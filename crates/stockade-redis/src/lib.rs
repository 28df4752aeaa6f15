//! Shared state for several processes in Redis or Valkey: rate limits,
//! idempotency keys, sessions, token revocations and WebSocket rooms.

// Modules:
// - `link`: `Redis` sends commands with deadlines; `keeper`: the task that
//   connects and watches; `connect`: the stream, the login and the first check.
// - `connector`: connects to a fixed address or to the server that `sentinel`
//   finds.
// - `cluster`: a link for each cluster node, selected by `slots`.
// - `breaker`, `backoff`: the two kinds of delay, as data.
// - `options`, `address`, `tls`: the configuration of a link.
// - `error`, `health`: the errors and the state of a link.
// - `counts`: the metrics of a link.
// - `script`: Lua scripts, sent by hash.
// - `rate_limits/`: `RedisRateLimits`. `algorithm` reads the results of the
//   scripts; `refusals` and `leases` are local state that saves round trips.
// - `idempotency/`: `RedisIdempotencyStore`, a script for each step.
// - `sessions/`: `RedisSessionStore`, a script for each step.
// - `revocations/`: `Redis::revocations`, a log that a task in each process
//   follows.
// - `rooms/`: `RedisRooms`, WebSocket rooms across processes.
// - `simulation` in `rate_limits`, `revocations` and `rooms`: tests with up to
//   1,000 processes in virtual time.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod backoff;
mod breaker;
mod cluster;
mod connect;
mod connector;
#[cfg(feature = "metrics")]
mod counts;
mod error;
mod health;
mod idempotency;
mod keeper;
mod link;
mod options;
mod rate_limits;
mod revocations;
mod rooms;
mod script;
mod sentinel;
mod sessions;
mod slots;
#[cfg(feature = "tls")]
mod tls;

pub use health::Health;
pub use idempotency::RedisIdempotencyStore;
pub use link::Redis;
pub use options::RedisOptions;
pub use rate_limits::RedisRateLimits;
pub use rooms::RedisRooms;
pub use sessions::RedisSessionStore;

/// The Redis commands that this crate and its scripts use, in the notation of
/// Redis ACLs.
///
/// Any server that supports these commands is compatible. The tests run as a
/// user with permission for these commands only.
pub const COMMANDS: &[&str] = &[
    "ping",
    "info",
    "evalsha",
    "eval",
    "time",
    "get",
    "set",
    "incrby",
    "pttl",
    "hmget",
    "hset",
    "pexpire",
    "del",
    "zadd",
    "zcount",
    "zrem",
    "zremrangebyscore",
    "zcard",
    "zrange",
    "exists",
    "zrangebyscore",
    "zrevrange",
    "zscore",
    "publish",
    "subscribe",
    "unsubscribe",
    "xadd",
    "xrange",
    "hget",
    "hincrby",
    "hexists",
    "hlen",
    "hgetall",
    "hdel",
];

/// The additional commands that [`Redis::cluster`] sends.
pub const CLUSTER_COMMANDS: &[&str] = &["cluster|slots", "asking"];
