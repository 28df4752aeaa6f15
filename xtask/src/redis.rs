//! Tests `stockade-redis` on engines of its own.
//!
//! The tests kill, stop and demote engines, so that each starts its own on a free port
//! of this machine; here they are told where the program is.

use std::env;
use std::path::{Path, PathBuf};

use crate::{Outcome, compiling_command, debian, is_part_of, run as started, skip};

/// The programs of an engine; that of Valkey takes the same arguments.
const PROGRAMS: &[&str] = &["redis-server", "valkey-server"];

/// Measurements, which take minutes: only the long run has them.
const MEASUREMENTS: &[&str] = &[
    "cluster::the_cluster_connection_of_the_client_library",
    "faults::the_manager_of_the_client_library",
    "long::",
    "revocations::three_processes_that_read_cost_little",
    "rooms::load::broadcasts_in_a_second",
    "rooms::load::the_time_of_a_broadcast",
];

/// Tests in which engines fail over, or a fault lasts for seconds: two minutes together.
const FAILOVERS: &[&str] =
    &["cluster::our_links_to_a_cluster", "rooms::failover::", "sentinel::", "behind_sentinel"];

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
        // As the tests before it: nothing is compiled again.
        test.arg("--workspace");
    }
    // Without an engine the tests are ignored.
    test.args(["--all-features", "--test", "redis", "--", "--include-ignored"]);
    // A process that a test starts and kills.
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

/// Returns the program of an engine, if there is one or one can be installed.
pub fn find_program() -> Option<PathBuf> {
    program_of(PROGRAMS).or_else(|| {
        // Without the package there is nothing to test, which is said.
        let is_installed = debian::install(&["redis-server"]).unwrap_or(false);
        if is_installed { program_of(PROGRAMS) } else { None }
    })
}

/// Returns the first of these programs that is installed.
pub fn program_of(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Servers stand where only root looks.
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let folders: Vec<PathBuf> = folders.collect();
    let in_folder =
        |folder: &Path| names.iter().map(|name| folder.join(name)).find(|it| it.is_file());
    folders.iter().find_map(|folder| in_folder(folder))
}
