//! Tests through the public interface, as one binary.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests; clippy.toml knows only functions with `#[test]`"
)]

mod allocations;
mod hostile;
mod json_schema_suite;
mod keywords;
mod objects;
mod options;
mod properties;
mod rules;
mod support;
