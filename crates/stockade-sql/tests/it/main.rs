//! One suite over every store: memory, SQLite, a driver of its own, and
//! PostgreSQL where `cargo xtask sql` has started one.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod engines;
mod item;
mod model;
mod suite;
