//! Rate limiting: a maximum number of requests per time window for each client.
//!
//! A [`RateLimit`] contains the options and builds a [`RateLimiter`], which
//! charges a request to a [`RateKey`] and returns a [`Decision`]. The caller
//! provides the time. The counts are in a [`RateStore`], such as the in-memory
//! [`MemoryRateStore`].
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use stockade::middleware::rate_limit::{ChargeOutcome, MINUTE, RateKey, RateLimit};
//!
//! let limiter = RateLimit::from(2 / MINUTE).build()?;
//! let key = RateKey::from("203.0.113.7".parse::<std::net::IpAddr>().unwrap());
//! let start = Instant::now();
//! let allowed = |now| match limiter.charge(&key, now) {
//!     ChargeOutcome::Ready(decision) => decision.allowed,
//!     ChargeOutcome::Pending(_) => unreachable!("the store is in memory"),
//! };
//! assert!(allowed(start) && allowed(start) && !allowed(start));
//! assert!(allowed(start + Duration::from_secs(60)));
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! # Memory
//!
//! A key uses 32 bytes in a table that is at most three quarters full at the
//! cap. Including the room that a table needs to grow, a key uses less than 100
//! bytes, regardless of its length. There are never more keys than
//! [`max_keys`](RateLimit::max_keys). At the cap, new keys are counted in
//! 16,384 windows by keyed hash, which use an additional 256 KiB while they are
//! in use. A mostly empty table shrinks as new keys arrive.
// Spec: Limits › Rate limit; Router options › `rateLimit`.

// Files:
// - `quota`: `Quota`, its notations, and `RateLimitPolicy`, a quota with its
//   name.
// - `options`, `limiter`: `RateLimit` and `RateLimiter`; `notation`: a limit in
//   a file.
// - `by_request`: `RequestLimit`, with a function that chooses key and quota.
// - `key`: `RateKey`, the client that is charged for a request.
// - `decision`: `Decision`, and `too_many`, its error.
// - `headers`: the headers of a limited response.
// - `store`: `RateStore`, `ChargeOutcome`, `StoreFailure`.
// - `memory`, `table`: `MemoryRateStore`; the hot code. `overflow`: its windows
//   for new keys at the cap.
// - `algorithm`, `gcra`: `Algorithm`, the algorithms as functions of data.
// - `with_rate_limit`: `with_rate_limit`, the limit of a route.

mod algorithm;
mod by_request;
pub(crate) mod decision;
#[cfg(feature = "gcra")]
mod gcra;
#[doc(hidden)]
pub mod headers;
mod key;
pub(crate) mod limiter;
mod memory;
#[doc(hidden)]
pub mod meter;
#[doc(hidden)]
pub mod notation;
pub(crate) mod options;
mod overflow;
mod quota;
mod store;
mod table;
mod with_rate_limit;

pub use algorithm::Algorithm;
pub use by_request::{Charge, IntoCharge, RequestLimit};
pub use decision::Decision;
pub use key::RateKey;
pub use limiter::RateLimiter;
pub use memory::MemoryRateStore;
pub use options::RateLimit;
pub use quota::{HOUR, MINUTE, Per, Quota, RateLimitPolicy, SECOND};
pub use store::{BatchDecision, ChargeOutcome, RateStore, StoreFailure};
pub use with_rate_limit::{RouteLimit, with_rate_limit};

#[doc(hidden)]
pub mod decision_internals {
    pub use super::decision::too_many;
}

#[doc(hidden)]
pub mod with_rate_limit_internals {
    pub use super::with_rate_limit::CountsRequests;
}
