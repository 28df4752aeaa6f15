//! Tests through the public interface, as one binary.

#![expect(clippy::unwrap_used, reason = "tests; clippy.toml knows only functions with `#[test]`")]

mod write;
