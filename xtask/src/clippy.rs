//! Clippy as the compiler: in `ci` it lints what the tests need while it compiles it, in one
//! pass instead of two. Two passes took 356 s and 450 s on two cores, the one takes 440 s.
//!
//! `cargo clippy` does the same with a pass that compiles nothing: it makes `clippy-driver`
//! the wrapper of the compiler for the crates of the workspace, and tells it its own
//! arguments by a variable. Under it the intermediate code is not optimised, so that debug
//! builds are a little slower; what they do is the same.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::{Outcome, target_directory};

/// The program that is rustc with the lints of clippy.
const DRIVER: &str = "clippy-driver";

/// Tells the wrapper by the command line and not by a variable: the messages of the compiler
/// that tests look at are those of rustc.
const WRAPPER: &str = "build.rustc-workspace-wrapper=\"clippy-driver\"";

/// The variable by which `cargo clippy` passes on its arguments, and what it joins them by.
const ARGUMENTS: (&str, &str) = ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");

/// Lets a cargo command compile the crates of the workspace by clippy. To be called before
/// its arguments are given.
pub fn compiles(command: &mut Command) {
    command.args(["--config", WRAPPER]).env(ARGUMENTS.0, ARGUMENTS.1);
    // Nothing is compiled a second time, and a panic tells its line without debug info.
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
}

/// Fails if the driver is not there, or lets a mistake pass: its variable is a matter
/// between it and cargo.
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
        code => Err(format!("{DRIVER} ends with {code:?} after {MISTAKE:?}, not with 1")),
    }
}

/// A lint of clippy alone, which is a warning and no error by itself.
const MISTAKE: &str = "fn main() { let text = String::new(); assert!(text.len() == 0); }";
