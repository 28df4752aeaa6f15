//! One suite over every store: memory, SQLite, a driver of its own, and
//! PostgreSQL, if `cargo xtask sql` has started one: the tests that need it are ignored.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

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
mod stores;
mod suite;
mod times;
mod unreadable;
