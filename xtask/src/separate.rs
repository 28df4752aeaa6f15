//! Builds and tests examples that are workspaces of their own, because their
//! dependencies must not be in our lock file.

use std::process::Command;

use crate::{Outcome, cargo_path, root, run as started};

/// Tests the backend of Conduit, on SQLite.
pub fn conduit() -> Outcome {
    test("examples/conduit")
}

/// Tests the programs that axum has as examples.
pub fn from_axum() -> Outcome {
    test("examples/from-axum")
}

/// Tests the example for AWS Lambda.
pub fn lambda() -> Outcome {
    test("examples/lambda")
}

/// Tests the example that sends spans to a collector of OpenTelemetry.
pub fn opentelemetry() -> Outcome {
    test("examples/opentelemetry")
}

fn test(folder: &str) -> Outcome {
    let folder = root().join(folder);
    started(Command::new(cargo_path()).args(["test", "--locked"]).current_dir(folder))
}
