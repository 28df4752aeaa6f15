//! Clippy as the compiler: `ci` lints the test dependencies while it compiles
//! them, in one pass instead of two. On two cores, two passes took 356 s and
//! 450 s, and the single pass takes 440 s.
//!
//! `cargo clippy` uses the same method for a pass that does not produce code.
//! It sets `clippy-driver` as the compiler wrapper for workspace crates, and
//! passes its arguments in a variable. With clippy-driver, the intermediate
//! code is not optimized, so debug builds are slightly slower, but they behave
//! identically.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::command::build_once;
use crate::{Outcome, target_directory};

/// The program that combines rustc with clippy's lints.
const DRIVER: &str = "clippy-driver";

/// Sets the wrapper on the command line rather than in a variable: tests that
/// check compiler messages need rustc's own messages.
const WRAPPER: &str = "build.rustc-workspace-wrapper=\"clippy-driver\"";

/// The variable that contains the arguments of `cargo clippy`, and their value
/// with its separator.
const ARGUMENTS: (&str, &str) = ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");

/// Makes a cargo command compile the workspace crates with clippy. Must be
/// called before the arguments are added.
pub fn compiles(command: &mut Command) {
    command.args(["--config", WRAPPER]).env(ARGUMENTS.0, ARGUMENTS.1);
    build_once(command);
}

/// Fails if the driver is missing or accepts a lint violation. The variable is
/// an internal interface between the driver and cargo.
pub fn refuses_warnings() -> Outcome {
    let fault = |error: std::io::Error| format!("{DRIVER}: {error} (rustup component add clippy)");
    let mut child = Command::new(DRIVER)
        .args(["rustc", "-", "--crate-name=mistake", "--emit=metadata", "--out-dir"])
        .arg(target_directory()?)
        .env(ARGUMENTS.0, ARGUMENTS.1)
        .env("CARGO_PRIMARY_PACKAGE", "1")
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(fault)?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    stdin.write_all(MISTAKE.as_bytes()).map_err(fault)?;
    drop(stdin);
    match child.wait().map_err(fault)?.code() {
        Some(1) => Ok(()),
        code => Err(format!("{DRIVER} ended with {code:?} after {MISTAKE:?}, expected 1")),
    }
}

/// A violation of a clippy lint that is only a warning by default.
const MISTAKE: &str = "fn main() { let text = String::new(); assert!(text.len() == 0); }";
