//! Checks for the guarantees of the store traits, to run against your own
//! stores.
//!
//! Each function calls a store as the framework does, and fails the test if the
//! store violates a guarantee of its trait. Each run uses unique keys, so you
//! can check a persistent store repeatedly.
//!
//! The test provides a function that lets time pass. The function advances the
//! clock of the store, or waits if it does not control the clock.
//!
//! The crate `stockade` exports them as `stockade::testing::conformance` with
//! the feature `conformance`.
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

// Modules:
// - `backplane`: the guarantees of the room `Backplane`.
// - `fail`: the failure of a check.
// - `idempotency_store`: the guarantees of `IdempotencyStore`.
// - `rate_store`: the guarantees of `RateStore`.
// - `rest_store`: the guarantees of the resource `Store`, with a model.
// - `revocation_log`: the guarantees of `RevocationLog`.
// - `session_store`: the guarantees of `SessionStore`.
// - `tests`: verify that each check rejects faulty stores.

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

/// A duration that does not elapse during a check.
const LONG: Duration = Duration::from_secs(600);

/// A duration that a check waits for.
const SHORT: Duration = Duration::from_millis(100);

/// The timeout for all waiting, including recovery of a backend after a fault.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a unique key of 32 characters: ASCII letters, digits, `-` and `_`.
fn unique_text() -> String {
    unique().map(char::from).iter().collect()
}

/// Returns a unique key of 32 bytes.
fn unique() -> [u8; 32] {
    let id = or_fail(SessionId::generate()).to_string();
    let mut bytes = [0; 32];
    // The id has 43 characters. The first 32 contain 192 random bits, which are
    // sufficient.
    bytes.iter_mut().zip(id.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Fails the test if a result differs from the guaranteed one.
fn equal<T: PartialEq + Debug>(promise: &str, actual: &T, expected: &T) {
    if actual != expected {
        fail(format!("{promise}: found {actual:?}, expected {expected:?}"));
    }
}

/// Returns the result of a store, or fails the test.
fn succeeds<T, E: Display>(promise: &str, answer: Result<T, E>) -> T {
    or_fail(answer.map_err(|error| format!("{promise}: the store failed: {error}")))
}

/// Waits for a condition. Returns false if the timeout expires.
async fn until(holds: impl AsyncFn() -> bool) -> bool {
    let begin = Instant::now();
    let mut turns = 0;
    while !holds().await {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        // In-memory stores need no time, so poll quickly at first.
        if turns < 100 {
            turns += 1;
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    true
}
