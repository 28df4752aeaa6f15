//! One suite for every store: in-memory, SQLite, a custom driver, and
//! PostgreSQL. The PostgreSQL tests are ignored by default; `cargo xtask sql`
//! starts a server for them.

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
