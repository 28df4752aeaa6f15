//! One suite over every store: memory, SQLite, a driver of its own, and
//! PostgreSQL where `cargo xtask sql` has started one.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]
#![cfg_attr(feature = "postgres", expect(clippy::print_stderr, reason = "a skipped test is loud"))]

mod engines;
mod item;
mod long;
#[cfg(feature = "postgres")]
mod postgres;
mod prefixes;
mod references;
mod refused;
mod requests;
mod spellings;
mod suite;
mod times;
mod unreadable;
