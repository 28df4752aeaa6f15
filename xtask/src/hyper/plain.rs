//! Runs everything that serves HTTP/1 on the plain path.

use std::env;
use std::process::Command;

use super::{PLAIN_BUILD, PLAIN_TESTS};
use crate::{Outcome, cargo_command, floods, root, run as run_command, skip};

/// The number of generated connections.
const CONNECTIONS: &str = "50000";

pub fn run() -> Outcome {
    let mut server = cargo_command();
    server.args(["test", "-p", "stockade-server", "--all-features", "--lib"]);
    run_command(server.env(PLAIN_TESTS, "1").current_dir(root()))?;
    // Contains the table of all hosts, and `tests/it/http/wire.rs` checks that
    // this is the plain path.
    let mut others = cargo_command();
    others.args(["test", "--workspace", "--all-features", "--tests"]);
    others.args(["--exclude", "stockade-server"]);
    run_command(others.env(PLAIN_BUILD, "1").current_dir(root()))?;
    // A separate process, because these tasks read the arguments of theirs.
    let task = env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let mut pipelines = Command::new(&task);
    pipelines.args(["pipelines", "--connections", CONNECTIONS]).env(PLAIN_TESTS, "1");
    run_command(&mut pipelines)?;
    let mut flood = Command::new(&task);
    flood.args(["floods", "--seconds", "10"]).env(PLAIN_BUILD, "1");
    match floods::may_hold_crowd() {
        Ok(()) => drop(flood.args(["--idle", "10000", "--crowd", "10500"])),
        Err(why) => skip(&format!("a crowd of connections on the plain path: {why}")),
    }
    run_command(&mut flood)
}
