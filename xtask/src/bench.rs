//! Starts the benchmark beside peers, `tests/bench`, a workspace of its own.

use std::env;
use std::process::{Command, Stdio};

use crate::{Outcome, cargo_command, root, run as run_command, skip, target_directory};

/// Passes on what stands behind `cargo xtask bench`.
pub fn run() -> Outcome {
    start(env::args().skip(2).collect())
}

/// The part of it that `ci` runs: figures that repeat.
pub fn counts() -> Outcome {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if !valgrind.status().is_ok_and(|status| status.success()) {
        skip("instructions per request, because valgrind is not installed");
    }
    start(vec!["counts".to_owned()])
}

fn start(args: Vec<String>) -> Outcome {
    let mut command = cargo_command();
    command.args(["run", "--quiet", "--locked", "-p", "bench-runner", "--"]).args(args);
    command.env("CARGO_TARGET_DIR", target_directory()?.join("bench"));
    run_command(command.current_dir(root().join("tests/bench")))
}
