//! State that several processes share on Valkey or Redis: the counts of rate limits,
//! idempotency keys, sessions, what is revoked of tokens, and rooms of WebSockets.

// Where things are:
// - `link`: `Redis`: sends commands, with their deadlines; `keeper`: the task that
//   connects and watches; `connect`: the stream, the login and the first look.
// - `connector`: connects to Redis or Valkey: an address, or `sentinel` that names one.
// - `cluster`: a link for each node of a cluster, by its `slots`.
// - `breaker`, `backoff`: the two waits, as data.
// - `options`, `address`, `tls`: what a link is opened with.
// - `error`, `health`: what it says of itself.
// - `counts`: the metrics of a link.
// - `script`: Lua by its hash.
// - `rate_limits/`: `RedisRateLimits`: `algorithm` reads the answers of the scripts;
//   `refusals` and `leases` are what a process knows without asking.
// - `idempotency/`: `RedisIdempotencyStore`, a script for each step.
// - `sessions/`: `RedisSessionStore`, a script for each step.
// - `revocations/`: `Redis::revocations`: a log, which a task of each process follows.
// - `rooms/`: `RedisRooms`: rooms of WebSockets across processes.
// - `simulation` of `rate_limits`, `revocations` and `rooms`: up to 1,000 processes, in
//   virtual time; for tests.
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

/// The commands that this crate sends, with those of its scripts, as an ACL of the
/// engine names them.
///
/// It is the claim of compatibility: an engine that has them is one that works. The
/// tests run as a user that may do nothing else.
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

/// The commands that [`Redis::cluster`] sends besides [`COMMANDS`].
pub const CLUSTER_COMMANDS: &[&str] = &["cluster|slots", "asking"];
