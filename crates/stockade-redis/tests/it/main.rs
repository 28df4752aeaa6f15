//! Integration tests with Redis servers that the tests start, stop and kill.
//!
//! Tests that need `redis-server` are ignored by default. `cargo xtask redis`
//! finds the program and runs them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "these are tests, which print their figures"
)]

mod cluster;
mod connections;
mod engine;
mod faults;
mod idempotency;
mod link;
mod logged;
mod logged_out;
mod long;
mod models;
mod proxy;
mod rate_limit_model;
mod rate_limits;
mod revocations;
mod rooms;
mod sentinel;
mod sessions;
mod stores;
mod stores_beyond_one;
#[cfg(feature = "tls")]
mod tls;
