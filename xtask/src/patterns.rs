//! Compares the recorded results of patterns with the JavaScript engine of Node.
//!
//! The tests of `stockade-validation` read the records in `tests/vectors/patterns`.

use std::process::Command;

use crate::{Outcome, root, run as started, skip};

pub fn run() -> Outcome {
    let version = Command::new("node").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        skip("patterns in a JavaScript engine (Node)");
        return Ok(());
    }
    let script = root().join("tests/vectors/patterns/generate.mjs");
    started(Command::new("node").arg(script).arg("--check"))
}
