//! Tests of the public interface, in one binary.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests; clippy.toml knows only functions with `#[test]`"
)]

mod dates;
mod foreign_dates;
mod helpers;
mod maps;
mod nesting;
mod properties;
mod sets;
mod values;
