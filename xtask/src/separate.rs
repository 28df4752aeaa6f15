//! Builds and tests packages that are separate workspaces, either because their
//! dependencies must not be in our lock file, or because of the features that
//! they enable.

use std::process::Command;

use crate::{Outcome, cargo_command, debian, root, run as started, skip};

/// Tests the Conduit backend with SQLite.
pub fn conduit() -> Outcome {
    test("examples/conduit")
}

/// Tests deserialization when serde_json preserves all digits of a number.
pub fn arbitrary_precision() -> Outcome {
    test("tests/arbitrary-precision")
}

/// Tests the ported axum examples. Two of them need OpenSSL.
pub fn from_axum() -> Outcome {
    let has_openssl = || {
        let found = Command::new("pkg-config").args(["--exists", "openssl"]).status();
        found.is_ok_and(|status| status.success())
    };
    if has_openssl() || (debian::install(&["libssl-dev", "pkg-config"])? && has_openssl()) {
        return test_with("examples/from-axum", &["--features", "openssl"]);
    }
    skip("two of axum's examples (`apt-get install libssl-dev pkg-config` as root)");
    test("examples/from-axum")
}

/// Tests the example for AWS Lambda.
pub fn lambda() -> Outcome {
    test("examples/lambda")
}

/// Tests the example that sends spans to an OpenTelemetry collector.
pub fn opentelemetry() -> Outcome {
    test("examples/opentelemetry")
}

fn test(folder: &str) -> Outcome {
    test_with(folder, &[])
}

fn test_with(folder: &str, arguments: &[&str]) -> Outcome {
    let folder = root().join(folder);
    let mut test = cargo_command();
    started(test.args(["test", "--locked"]).args(arguments).current_dir(folder))
}
