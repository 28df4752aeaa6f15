//! Runs `tests/jwt-features` with each set of `jsonwebtoken` features that
//! other crates of a program may enable.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Outcome, announce, cargo_command, root};

pub fn run() -> Outcome {
    for features in COMBINATIONS {
        let run = ["run", "--locked", "--no-default-features", "--features", features];
        bounded(cargo_command().args(run).current_dir(root().join("tests/jwt-features")))
            .map_err(|error| format!("with the features {features:?}: {error}"))?;
    }
    Ok(())
}

/// All combinations of the three features.
const COMBINATIONS: &[&str] = &[
    "",
    "use_pem",
    "rust_crypto",
    "rust_crypto,use_pem",
    "aws_lc_rs",
    "aws_lc_rs,use_pem",
    "aws_lc_rs,rust_crypto",
    "aws_lc_rs,rust_crypto,use_pem",
];

/// Prints and runs a command, and kills it after the timeout.
fn bounded(command: &mut Command) -> Outcome {
    announce(command);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Ok(None) => thread::sleep(Duration::from_millis(100)),
            Err(error) => return Err(error.to_string()),
        }
    }
    // The command must never be left running.
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("it did not finish within {} s", PATIENCE.as_secs()))
}

/// The timeout for one combination, including the compilation of aws-lc.
const PATIENCE: Duration = Duration::from_secs(900);
