//! Tests of the public interface, in one binary.

#![expect(clippy::unwrap_used, reason = "tests; clippy.toml knows only functions with `#[test]`")]

mod write;
