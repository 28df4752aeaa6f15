//! Tasks that are packages: programs below `xtask/`, which use this library.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::report::note;
use crate::{Outcome, announce, cargo_command, root};

/// Runs `xtask/circles`.
pub(crate) fn circles() -> Outcome {
    run("xtask-circles")
}

/// Runs `xtask/cluster`.
pub(crate) fn cluster() -> Outcome {
    run("xtask-cluster")
}

/// Runs `xtask/compile-cost`.
pub(crate) fn compile_cost() -> Outcome {
    run("xtask-compile-cost")
}

/// Runs the part of `xtask/compile-cost` that measures the smallest program.
pub(crate) fn first_minute() -> Outcome {
    run("xtask-compile-cost")
}

/// Runs `xtask/prose`.
pub(crate) fn prose() -> Outcome {
    run("xtask-prose")
}

/// Runs `xtask/release`.
pub(crate) fn release() -> Outcome {
    run("xtask-release")
}

/// Runs a package with the arguments of this program; the first argument is the
/// name of the running task. The summary of `ci` also includes the steps that
/// the package skips.
fn run(package: &str) -> Outcome {
    let mut command = cargo_command();
    command.args(["run", "--quiet", "--package", package, "--"]).args(env::args().skip(1));
    command.current_dir(root()).stdout(Stdio::piped());
    announce(&command);
    let fault = |error: std::io::Error| format!("{package}: {error}");
    let mut child = command.spawn().map_err(fault)?;
    let output = child.stdout.take().ok_or("the program does not have output")?;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(fault)?;
        println!("{line}");
        note(&line);
    }
    let status = child.wait().map_err(fault)?;
    if status.success() { Ok(()) } else { Err(format!("{package} failed")) }
}
