//! The promises of the traits of stores, to be checked on one's own.
//!
//! Each function calls a store as the framework does, and fails the test where the
//! store breaks a promise of its trait. A store is asked under keys of its own in each
//! run, so that one that outlives the test may be checked again.
//!
//! Time passes by a function of the test: it moves the clock of the store, or waits
//! where the clock is not ours.
//!
//! ```
//! use stockade::middleware::idempotency::MemoryIdempotencyStore;
//! use stockade::testing::{TestClock, conformance};
//!
//! # #[tokio::main]
//! # async fn main() {
//! let clock = TestClock::new();
//! let store = MemoryIdempotencyStore::new().clock(clock.for_route_limits());
//! conformance::idempotency_store(store, async |time| clock.advance(time)).await;
//! # }
//! ```

// Where things are:
// - `backplane`: the promises of `Backplane` of rooms.
// - `fail`: the failure of a check.
// - `idempotency_store`: the promises of `IdempotencyStore`.
// - `rate_store`: the promises of `RateStore`.
// - `rest_store`: the promises of `Store` of resources, and one model of them.
// - `revocation_log`: the promises of `RevocationLog`.
// - `session_store`: the promises of `SessionStore`.
// - `tests`: each of them refuses stores that break a promise.

mod backplane;
mod fail;
mod idempotency_store;
mod rate_store;
mod rest_store;
mod revocation_log;
mod session_store;
#[cfg(test)]
mod tests;

pub use backplane::{backplane, backplane_under_faults};
pub use idempotency_store::idempotency_store;
pub use rate_store::rate_store;
pub use rest_store::{RestItem, rest_store, rest_store_operations};
pub use revocation_log::revocation_log;
pub use session_store::session_store;

use std::fmt::{Debug, Display};
use std::time::Duration;

use stockade_auth::SessionId;
use tokio::time::Instant;

use crate::fail::{fail, or_fail};

/// A time that does not pass while a check runs.
const LONG: Duration = Duration::from_secs(600);

/// A time that a check waits for.
const SHORT: Duration = Duration::from_millis(100);

/// The longest time that a check waits for something, also of an engine that comes back
/// after a fault.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns 32 characters that no other key has: ASCII letters, digits, `-` and `_`.
fn unique_text() -> String {
    unique().map(char::from).iter().collect()
}

/// Returns 32 bytes that no other key has.
fn unique() -> [u8; 32] {
    let id = or_fail(SessionId::generate()).to_string();
    let mut bytes = [0; 32];
    // 43 characters are longer than this, and 192 random bits enough.
    bytes.iter_mut().zip(id.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Fails the test where an answer is another one than was promised.
fn equal<T: PartialEq + Debug>(promise: &str, actual: &T, expected: &T) {
    if actual != expected {
        fail(format!("{promise}: {actual:?}, and not {expected:?}"));
    }
}

/// Returns the answer of a store, or fails the test.
fn succeeds<T, E: Display>(promise: &str, answer: Result<T, E>) -> T {
    or_fail(answer.map_err(|error| format!("{promise}: the store failed: {error}")))
}

/// Waits until something holds; returns false if it does not.
async fn until(holds: impl AsyncFn() -> bool) -> bool {
    let begin = Instant::now();
    let mut turns = 0;
    while !holds().await {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        // What is in memory needs no time, and is soon there.
        if turns < 100 {
            turns += 1;
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    true
}
