//! Runs three processes of one program behind HAProxy, with a Redis store that
//! is killed, stopped, emptied and failed over under load. Prints the measured
//! figures next to the expected ones.
//!
//! `--long` runs the long form, `--release` the short form with an optimized
//! program. `--stage one`, `--stage sentinel` or `--stage cluster` runs only
//! that part.
//!
//! Before the table, a test of `stockade-server` runs behind HAProxy with its
//! PROXY protocol.
//!
//! A row is a function in `rows` with a line in [`STAGES`]. Rows about shared
//! data other than limits are in `sharing`, `crash` and `cost`. The long form
//! also opens the page of the example in a browser; `--page` runs only this
//! part.

mod client;
mod cost;
mod crash;
mod engine;
mod page;
mod proxy;
mod rows;
mod sharing;
mod site;
mod socket;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use crate::engine::Engines;
use crate::site::Site;
use xtask::{Outcome, cargo, debian, end_of, examples, is_part_of, redis, skip, target_directory};

/// The programs that the table needs in addition to the example.
#[derive(Clone)]
pub struct Programs {
    pub engine: PathBuf,
    pub haproxy: PathBuf,
    pub node: PathBuf,
    /// The folder for files of the processes.
    pub folder: PathBuf,
}

/// The size of a run.
#[derive(Clone, Copy)]
pub struct Scale {
    /// The number of limit windows to exhaust.
    pub windows: u32,
    /// The number of connections that send requests during a fault.
    pub connections: u32,
    /// The time between two requests of a connection, in milliseconds.
    pub pause: u64,
    /// The maximum time until a recovered store is in use again, in
    /// milliseconds.
    pub most_back: u128,
    /// The store's deadline for the exact limit, in milliseconds.
    pub deadline: u32,
    /// The number of room members at each node, and of messages that each node
    /// sends.
    pub members: u32,
    pub messages: u32,
    /// The number of sessions to change, and of tokens to revoke.
    pub sessions: u32,
    /// The number of idempotency keys, each with 20 requests.
    pub keys: u32,
    /// The time for which a handler holds its idempotency key, in seconds.
    pub lease: u64,
    /// The maximum time until all nodes reject a revoked token, in
    /// milliseconds.
    pub most_revoked: u128,
    /// True if the times of requests are checked too: nothing else runs on the
    /// machine.
    pub is_timed: bool,
}

/// The size in `ci`. Other processes share its machine.
const SHORT: Scale = Scale {
    windows: 5,
    connections: 20,
    pause: 20,
    most_back: 5_000,
    deadline: 900,
    members: 5,
    messages: 100,
    sessions: 5,
    keys: 20,
    lease: 2,
    most_revoked: 2_000,
    is_timed: false,
};

/// 5,000 requests per second, as in the goals.
const LONG: Scale = Scale {
    windows: 200,
    connections: 100,
    pause: 20,
    most_back: 2_000,
    deadline: 100,
    members: 100,
    messages: 1_000,
    sessions: 100,
    keys: 1_000,
    lease: 30,
    most_revoked: 100,
    is_timed: true,
};

/// One row of the table with its result.
pub struct Row {
    pub name: String,
    pub wanted: String,
    pub found: String,
    pub holds: bool,
}

type Measure = fn(&mut Site) -> Result<Row, String>;

/// A Redis setup, and the rows that run on it.
struct Stage {
    name: &'static str,
    start: fn(&Programs) -> Result<Engines, String>,
    rows: &'static [Measure],
    /// The rows of the long form.
    timed: &'static [Measure],
}

const STAGES: &[Stage] = &[
    Stage {
        name: "one engine",
        start: engine::one,
        rows: &[
            rows::exact,
            rows::refusals_cost_nothing,
            sharing::rooms,
            sharing::rooms_cut,
            sharing::rooms_stopped,
            sharing::sessions,
            sharing::idempotency,
            crash::killed_in_a_handler,
            sharing::revocations,
            rows::killed,
            rows::stopped,
            rows::clients_killed,
            rows::scripts_flushed,
            rows::emptied,
            rows::cut_off,
            rows::share_while_cut_off,
            rows::node_killed,
        ],
        timed: &[cost::leased, cost::leased_busy, cost::added, cost::crowd],
    },
    Stage {
        name: "Sentinel",
        start: engine::sentinel,
        rows: &[
            rows::exact,
            sharing::rooms,
            sharing::rooms_failed_over,
            sharing::sessions,
            sharing::idempotency,
            crash::killed_in_a_handler,
            sharing::revocations,
            rows::failover_by_sentinel,
            rows::exact,
            rows::master_killed,
            sharing::rooms,
        ],
        timed: &[],
    },
    Stage {
        name: "Cluster of 6",
        start: engine::cluster,
        rows: &[
            rows::exact,
            sharing::rooms,
            sharing::rooms_cut,
            sharing::sessions,
            sharing::idempotency,
            crash::killed_in_a_handler,
            sharing::revocations,
            rows::node_of_cluster_killed,
            rows::exact,
            sharing::rooms,
        ],
        timed: &[],
    },
];

fn main() -> ExitCode {
    end_of(run())
}

fn run() -> Outcome {
    let has = |word: &str| env::args().any(|argument| argument == word);
    let is_long = has("--long") || is_part_of("nightly");
    let only = env::args().skip_while(|argument| argument != "--stage").nth(1);
    let Some((engine, haproxy)) = redis::find_program().zip(find_haproxy()) else {
        let how = "`apt-get install redis-server haproxy`";
        if is_part_of("cluster") {
            return Err(format!("Redis or HAProxy is missing ({how})"));
        }
        skip(&format!("three processes with Redis ({how}, then `cargo xtask cluster`)"));
        return Ok(());
    };
    if env::args().all(|argument| argument != "--page") {
        proxy_protocol()?;
    }
    let folder = target_directory()?.join("cluster");
    // The folder may not exist.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let programs = Programs { engine, haproxy, node: node(is_long || has("--release"))?, folder };
    let scale = if is_long { LONG } else { SHORT };
    let mut table = String::from("| store | check | expected | found |\n|---|---|---|---|\n");
    let mut misses = Vec::new();
    let mut stages = STAGES;
    if is_part_of("ci") {
        stages = &STAGES[..1];
        skip("three processes with Redis Sentinel and Redis Cluster (`cargo xtask cluster`)");
    }
    let is_page_alone = env::args().any(|argument| argument == "--page");
    if is_page_alone {
        stages = &STAGES[..1];
    }
    let is_wanted = |stage: &&Stage| {
        only.as_ref().is_none_or(|only| stage.name.to_lowercase().starts_with(only))
    };
    for (number, stage) in stages.iter().filter(is_wanted).enumerate() {
        let begin = Instant::now();
        let mut site = Site::start(&programs, (stage.start)(&programs)?, scale)?;
        let mut found = Vec::new();
        if number == 0 && (is_long || is_page_alone) {
            found.extend(page::row(&programs, &site)?.map(Ok));
        }
        let rows = if is_page_alone { &[] } else { stage.rows };
        let timed = if is_long { stage.timed } else { &[] };
        let rows = timed.iter().chain(rows).map(|measure| measure(&mut site));
        for row in found.into_iter().chain(rows) {
            let Row { name, wanted, found, holds } = row?;
            let mark = if holds { "" } else { " MISSED" };
            println!("{}: {name}: expected {wanted}; found {found}{mark}", stage.name);
            table += &format!("| {} | {name} | {wanted} | {found}{mark} |\n", stage.name);
            if !holds {
                misses.push(format!("{}: {name}: expected {wanted}, found {found}", stage.name));
            }
        }
        println!("{}: {} s", stage.name, begin.elapsed().as_secs());
    }
    println!("\n{table}");
    if misses.is_empty() { Ok(()) } else { Err(misses.join("\n")) }
}

/// Tests a server behind HAProxy, which sends the client's address with the
/// PROXY protocol.
fn proxy_protocol() -> Outcome {
    // A single package has other features than the workspace, so selecting it
    // would compile it again.
    let package: &[&str] =
        if is_part_of("ci") { &["--workspace"] } else { &["-p", "stockade-server"] };
    let rest = ["--all-features", "--lib", "--", "--ignored", "tests::haproxy::"];
    cargo(&[&["test"], package, &rest].concat())
}

/// Builds the example, optimized if the figures are compared with a goal.
fn node(is_optimised: bool) -> Result<PathBuf, String> {
    if is_optimised || is_part_of("ci") {
        return examples::program("cluster");
    }
    examples::debug_program("cluster")
}

fn find_haproxy() -> Option<PathBuf> {
    redis::program_of(&["haproxy"]).or_else(|| {
        let is_installed = debian::install(&["haproxy"]).unwrap_or(false);
        if is_installed { redis::program_of(&["haproxy"]) } else { None }
    })
}
