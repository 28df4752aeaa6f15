//! Compiles and runs `tests/bench/websockets`, which compares echo servers.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Outcome, cargo_command, root, run as run_command, skip};

pub fn run() -> Outcome {
    if !Path::new("/proc/self/schedstat").exists() {
        skip("the benchmark requires /proc/…/schedstat, which exists only on Linux");
        return Ok(());
    }
    let folder = root().join("tests/bench/websockets");
    let mut version = Command::new("npm");
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if version.status().is_ok_and(|status| status.success()) {
        let install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
        run_command(Command::new("npm").args(install).current_dir(&folder))?;
    }
    // Without it, the benchmark itself reports that `ws` is skipped.
    run_command(cargo_command().args(["run", "--release", "--locked"]).current_dir(&folder))
}
