//! Tests each crate with only its own features, and each feature of the facade
//! separately.

use crate::{Outcome, cargo};

/// Repeats the tests of `test` without the features that other crates enable,
/// and checks each feature of the facade separately.
pub(crate) fn run() -> Outcome {
    // A workspace build unifies features and hides features that a single crate
    // lacks.
    cargo(&["check", "-p", "stockade", "--no-default-features"])?;
    check_features("stockade", FACADE_FEATURES)?;
    check_features("stockade", &[&TYPE_FEATURES.join(",")])?;
    check_features("stockade-auth", AUTH_FEATURES)?;
    check_features("stockade-validation", TYPE_FEATURES)?;
    for krate in STANDALONE {
        cargo(&["test", "-p", krate])?;
    }
    Ok(())
}

/// Compiles a crate with each of its features separately.
fn check_features(krate: &str, features: &[&str]) -> Outcome {
    features.iter().try_for_each(|feature| {
        cargo(&["check", "-p", krate, "--no-default-features", "--features", feature])
    })
}

/// Features of the facade that select code; `test-alone` compiles each
/// separately.
pub(crate) const FACADE_FEATURES: &[&str] = &[
    "actix",
    "argon2",
    "axum",
    "compression",
    "conditional",
    "conformance",
    "contract",
    "cookies",
    "files",
    "gcra",
    "graphiql",
    "graphql",
    "http2",
    "i18n",
    "idempotency",
    "json-patch",
    "jwks",
    "mcp",
    "metrics",
    "multipart",
    "postgres",
    "redis",
    "redis-tls",
    "rest",
    "rpc",
    "schemars",
    "server",
    "sessions",
    "sql",
    "sqlite",
    "swagger-ui",
    "testing",
    "tls",
    "tracing",
    "typed-headers",
];

/// Features that add schemas to the types of a crate. `test-alone` compiles
/// them together from the facade, and each separately.
pub(crate) const TYPE_FEATURES: &[&str] = &[
    "bigdecimal",
    "bytes",
    "chrono",
    "indexmap",
    "jiff",
    "rust_decimal",
    "secrecy",
    "smallvec",
    "time",
    "url",
    "uuid",
];

/// Features of a crate that can be used by itself, without features that other
/// crates enable.
const AUTH_FEATURES: &[&str] = &["argon2", "jwks"];

/// Crates that must work by themselves.
const STANDALONE: &[&str] = &[
    "stockade-errors",
    "stockade-json",
    "stockade-path",
    "stockade-auth",
    "stockade-serialization",
    "stockade-validation",
    "stockade-map",
    "stockade-core",
    "stockade-websockets",
    "stockade-conformance",
    "auth-only",
    "validation-only",
];
