//! Each crate with its own features alone, and each feature of the facade alone.

use crate::{Outcome, cargo};

/// The tests of `test` again, without the features that other crates switch on; and
/// each feature of the facade alone.
pub(crate) fn run() -> Outcome {
    // A workspace build unifies features and hides what a lone crate lacks.
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

/// Compiles a crate with each of its features alone.
fn check_features(krate: &str, features: &[&str]) -> Outcome {
    features.iter().try_for_each(|feature| {
        cargo(&["check", "-p", krate, "--no-default-features", "--features", feature])
    })
}

/// Features of the facade that choose code: each is compiled alone by `test-alone`.
const FACADE_FEATURES: &[&str] = &[
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
    "i18n",
    "idempotency",
    "json-patch",
    "jwks",
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

/// Features that give schemas to the types of a crate. `test-alone` compiles them
/// together from the facade, and each alone.
const TYPE_FEATURES: &[&str] = &[
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

/// Features of a crate that is used alone, without what others switch on.
const AUTH_FEATURES: &[&str] = &["argon2", "jwks"];

/// Crates that promise to work alone.
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
