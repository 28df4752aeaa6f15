//! Builds and tests `examples/lambda`, a workspace of its own.

use std::process::Command;

use crate::{Outcome, cargo_path, root, run as started};

pub fn run() -> Outcome {
    let folder = root().join("examples/lambda");
    started(Command::new(cargo_path()).args(["test", "--locked"]).current_dir(folder))
}
