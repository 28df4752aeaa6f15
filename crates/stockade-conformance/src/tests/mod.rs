//! Tests that faulty stores are rejected, with a message that names the
//! guarantee.

mod backplane;
mod rate_store;
mod rest_store;
mod revocation_log;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// Checks that a suite fails with a message that contains these words.
async fn fails_with(suite: impl Future<Output = ()>, words: &str) {
    let Err(panic) = AssertUnwindSafe(suite).catch_unwind().await else {
        panic!("the suite passes, but must fail with: {words}");
    };
    let message = panic.downcast::<String>().unwrap();
    assert!(message.contains(words), "{message:?} does not contain {words:?}");
}
