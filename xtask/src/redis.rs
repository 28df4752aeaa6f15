//! Tests `stockade-redis` with its own Redis or Valkey servers.
//!
//! The tests kill, stop and demote servers, so each test starts its own on a
//! free local port. This task provides the path of the program.

use std::env;
use std::path::{Path, PathBuf};

use crate::{Outcome, compiling_command, debian, is_part_of, run as started, skip};

/// The server programs; Valkey accepts the same arguments as Redis.
const PROGRAMS: &[&str] = &["redis-server", "valkey-server"];

/// Measurements that take minutes and run only in the long form.
const MEASUREMENTS: &[&str] = &[
    "cluster::the_cluster_connection_of_the_client_library",
    "faults::the_manager_of_the_client_library",
    "long::",
    "revocations::three_reading_processes_cost_little",
    "rooms::load::broadcasts_in_a_second",
    "rooms::load::the_time_of_a_broadcast",
];

/// Tests with failovers or faults that last for seconds: two minutes together.
const FAILOVERS: &[&str] = &[
    "cluster::cluster_links_recover_from_faults",
    "rooms::failover::",
    "sentinel::",
    "behind_sentinel",
];

pub fn run() -> Outcome {
    let Some(program) = find_program() else {
        if is_part_of("redis") {
            return Err("redis-server is missing (`apt-get install redis-server`)".to_owned());
        }
        skip(
            "the ignored tests of stockade-redis: redis-server is missing \
            (`apt-get install redis-server`, then `cargo xtask redis`)",
        );
        return Ok(());
    };
    let is_long = env::args().any(|argument| argument == "--long") || is_part_of("nightly");
    let mut test = compiling_command();
    test.arg("test").env("STOCKADE_REDIS_SERVER", program);
    if is_long {
        test.args(["--release", "-p", "stockade-redis"]).env("STOCKADE_REDIS_LONG", "1");
    } else if is_part_of("redis") {
        test.args(["-p", "stockade-redis"]);
    } else {
        // Uses the same packages as the previous tests, so nothing is compiled
        // again.
        test.arg("--workspace");
    }
    // The tests are ignored without a server.
    test.args(["--all-features", "--test", "redis", "--", "--include-ignored"]);
    // A test starts and kills this process.
    test.args(["--skip", "idempotency::victim"]);
    if is_long {
        test.arg("--nocapture");
        return started(&mut test);
    }
    test.args(MEASUREMENTS.iter().flat_map(|name| ["--skip", name]));
    if is_part_of("ci") {
        skip("failovers of the tests of Redis (`cargo xtask redis`); `cluster` has others");
        test.args(FAILOVERS.iter().flat_map(|name| ["--skip", name]));
    }
    started(&mut test)
}

/// Returns the server program if it exists or can be installed.
pub fn find_program() -> Option<PathBuf> {
    program_of(PROGRAMS).or_else(|| {
        // Without the package, the tests are reported as skipped.
        let is_installed = debian::install(&["redis-server"]).unwrap_or(false);
        if is_installed { program_of(PROGRAMS) } else { None }
    })
}

/// Returns the first installed program of these.
pub fn program_of(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Servers are installed in a folder that only root's `PATH` contains.
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let folders: Vec<PathBuf> = folders.collect();
    let in_folder =
        |folder: &Path| names.iter().map(|name| folder.join(name)).find(|it| it.is_file());
    folders.iter().find_map(|folder| in_folder(folder))
}
