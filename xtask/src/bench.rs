//! Starts the benchmark beside peers, `tests/bench`, a workspace of its own.

use std::env;
use std::process::{Command, Stdio};

use crate::{Outcome, cargo_command, is_part_of, root, run as run_command, skip, target_directory};

/// Passes on what stands behind `cargo xtask bench`.
pub fn run() -> Outcome {
    start(env::args().skip(2).collect())
}

/// The part of it whose figures repeat; in `ci` its short form, the instructions of stockade.
pub fn counts() -> Outcome {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if !valgrind.status().is_ok_and(|status| status.success()) {
        skip("instructions per request, because valgrind is not installed");
    }
    let short = is_part_of("ci").then(|| "--short".to_owned());
    start(std::iter::once("counts".to_owned()).chain(short).collect())
}

fn start(args: Vec<String>) -> Outcome {
    let mut command = cargo_command();
    command.args(["run", "--quiet", "--locked", "-p", "bench-runner", "--"]).args(args);
    command.env("CARGO_TARGET_DIR", target_directory()?.join("bench"));
    run_command(command.current_dir(root().join("tests/bench")))
}
