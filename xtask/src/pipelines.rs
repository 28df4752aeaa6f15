//! Sends generated HTTP/1 connections to the server and compares the outcome
//! with a model. It runs `crates/stockade-server/src/tests/pipelines.rs` with
//! many more connections than `test` does.

use std::env;

use crate::{Outcome, cargo_command, root, run as run_command};

/// The number of connections of a campaign.
const CONNECTIONS: &str = "200000";

pub fn run() -> Outcome {
    let arguments: Vec<String> = env::args().skip(2).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (connections, seed) = match arguments[..] {
        // Part of `nightly`, or without arguments.
        [] => (CONNECTIONS, "1"),
        ["--connections", connections] => (connections, "1"),
        ["--connections", connections, "--seed", seed] => (connections, seed),
        _ => return Err("usage: cargo xtask pipelines [--connections N [--seed N]]".to_owned()),
    };
    let mut command = cargo_command();
    command.args(["test", "--release", "-p", "stockade-server", "--all-features", "--lib"]);
    command.args(["--", "pipelines"]).current_dir(root());
    command.env("STOCKADE_PIPELINES", connections).env("STOCKADE_PIPELINES_SEED", seed);
    run_command(&mut command)
}
