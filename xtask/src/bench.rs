//! Starts the comparison benchmark `tests/bench`, which is a separate
//! workspace.

use std::env;
use std::process::{Command, Stdio};

use crate::command::{announce, modest_cargo_command};
use crate::running::Running;
use crate::{Outcome, cargo_command, is_part_of, root, run as run_command, skip, target_directory};

/// Forwards the arguments of `cargo xtask bench`.
pub fn run() -> Outcome {
    start(env::args().skip(2).collect())
}

/// Runs the part with repeatable figures. In `ci`, this is the short form: the
/// instructions of stockade.
pub fn counts() -> Outcome {
    if !has_valgrind() {
        skip("instructions per request, because valgrind is not installed");
    }
    let short = is_part_of("ci").then(|| "--short".to_owned());
    start(std::iter::once("counts".to_owned()).chain(short).collect())
}

fn has_valgrind() -> bool {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    valgrind.status().is_ok_and(|status| status.success())
}

/// Starts to compile the program that `counts` measures in `ci`, at low
/// priority next to the other tasks. Dropping the value stops it. `counts`
/// waits for it, because cargo locks the folder, and reports its failure.
pub fn compile_ahead() -> Result<Option<Running>, String> {
    if !has_valgrind() {
        return Ok(None);
    }
    let mut command = modest_cargo_command();
    command.args(["build", "--release", "--locked", "--quiet", "-p", "bench-stockade"]);
    in_its_workspace(&mut command)?;
    announce(&command);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Running::start(&mut command, "nice").map(Some)
}

fn start(args: Vec<String>) -> Outcome {
    let mut command = cargo_command();
    command.args(["run", "--quiet", "--locked", "-p", "bench-runner", "--"]).args(args);
    in_its_workspace(&mut command)?;
    run_command(&mut command)
}

/// Runs a cargo command in the workspace of the benchmark, with a separate
/// target folder.
fn in_its_workspace(command: &mut Command) -> Outcome {
    command.env("CARGO_TARGET_DIR", target_directory()?.join("bench"));
    command.current_dir(root().join("tests/bench"));
    Ok(())
}
