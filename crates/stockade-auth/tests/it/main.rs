//! Tests through the public interface, as one binary.

#![expect(clippy::unwrap_used, reason = "tests; clippy.toml knows only functions with `#[test]`")]

mod algorithms;
mod attacks;
mod cross_check;
#[cfg(feature = "jwks")]
mod jwks;
mod options;
mod passwords;
mod properties;
mod revocations;
mod secrets;
mod support;
mod tokens;
mod vectors;
