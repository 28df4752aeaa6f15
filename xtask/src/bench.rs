//! Starts the benchmark beside peers, `tests/bench`, a workspace of its own.

use std::env;
use std::process::{Command, Stdio};

use crate::command::{announce, modest_cargo_command};
use crate::running::Running;
use crate::{Outcome, cargo_command, is_part_of, root, run as run_command, skip, target_directory};

/// Passes on what stands behind `cargo xtask bench`.
pub fn run() -> Outcome {
    start(env::args().skip(2).collect())
}

/// The part of it whose figures repeat; in `ci` its short form, the instructions of stockade.
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

/// Begins to compile the program that `counts` measures in `ci`, with what the tasks beside
/// it leave of the processors; to drop it ends it. `counts` waits for it, because cargo locks
/// the folder, and says why if it fails.
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

/// Lets a command of cargo work in the workspace of the benchmark, and in a folder of its own.
fn in_its_workspace(command: &mut Command) -> Outcome {
    command.env("CARGO_TARGET_DIR", target_directory()?.join("bench"));
    command.current_dir(root().join("tests/bench"));
    Ok(())
}
