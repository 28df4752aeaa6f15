//! Instructions and allocations per request of hyper and stockade. These
//! figures are repeatable, so a build can fail because of them.
//!
//! callgrind counts instructions between its commands `zero` and `dump`, while
//! the server waits for the next request of an open connection. One-time costs
//! are therefore excluded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bench_common::client::Client;
use bench_common::workload::{self, Workload};

use crate::contestant::{Contestant, PEERS};
use crate::limits::{self, Cost, Key, written};
use crate::server::Server;
use crate::{Outcome, place, profile};

/// Counts, then compares with the recorded figures or records new ones.
///
/// The short form counts only the instructions of stockade. It needs only one
/// of the three programs, which take a minute each with whole-program
/// optimization.
pub(crate) fn run(save: bool, short: bool) -> Outcome {
    let valgrind = ["valgrind", "vgdb"].iter().all(|tool| place::is_installed(tool, "--help"));
    if !valgrind {
        place::skip("instructions per request, because valgrind is not installed");
        if save {
            return Err("nothing is recorded without valgrind".to_owned());
        }
    }
    let packages: &[&str] = match (valgrind, short) {
        (true, true) => &["bench-stockade"],
        (true, false) => &["bench-counts", "bench-hyper", "bench-stockade"],
        (false, _) => &["bench-counts"],
    };
    place::build_together(packages)?;
    if valgrind && short {
        return count_stockade();
    }
    let mut costs = allocations()?;
    if valgrind {
        add_instructions(&mut costs, &COUNTED)?;
    }
    if save { limits::write(&costs) } else { compare(&costs, &limits::read()?, valgrind) }
}

/// Compares the instructions of stockade with the recorded figures.
fn count_stockade() -> Outcome {
    let mut recorded = limits::read()?;
    recorded.retain(|[server, ..], _| server == "stockade");
    let lines = recorded.iter().filter(|(_, cost)| cost.allocations.is_some());
    let mut costs: Vec<_> = lines.map(|(key, _)| (key.clone(), Cost::default())).collect();
    recorded.values_mut().for_each(|cost| cost.allocations = None);
    recorded.retain(|_, cost| cost.instructions.is_some());
    add_instructions(&mut costs, &["stockade"])?;
    costs.retain(|(_, cost)| cost.instructions.is_some());
    compare(&costs, &recorded, true)
}

/// Adds the instructions of these servers to the lines of their workloads.
fn add_instructions(costs: &mut Vec<(Key, Cost)>, servers: &[&str]) -> Outcome {
    let servers = PEERS.iter().filter(|peer| servers.contains(&peer.name));
    for contestant in servers.flat_map(|peer| peer.contestants()) {
        for (workload, instructions) in instructions(contestant)? {
            add(costs, contestant, &workload, instructions)?;
        }
    }
    Ok(())
}

/// The counted servers: a fixed set, so no other server is built.
const COUNTED: [&str; 2] = ["hyper", "stockade"];

/// Returns the lines of the program `bench-counts`.
fn allocations() -> Outcome<Vec<(Key, Cost)>> {
    let lines = place::output(&mut Command::new(place::program("bench-counts")?))?;
    let parse = |line: &str| {
        let [server, mode, workload, count] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let key = [server, mode, workload].map(str::to_owned);
        let allocations = count.parse().ok().filter(|count| limits::is_count(*count))?;
        Some((key, Cost { instructions: None, allocations: Some(allocations) }))
    };
    lines.lines().map(|line| parse(line).ok_or(format!("bench-counts says {line:?}"))).collect()
}

/// Returns the instructions of each workload.
fn instructions(contestant: Contestant) -> Outcome<Vec<(Workload, f64)>> {
    let mut callgrind = Callgrind::start(contestant)?;
    let mut counted = Vec::new();
    for workload in workload::all() {
        if workload.runs_in(contestant.mode) {
            let each = total(&callgrind.count(&workload)?)? / f64::from(REQUESTS);
            if !limits::is_count(each) {
                return Err(format!("{contestant} {}: {each} instructions", workload.name));
            }
            counted.push((workload, each));
        }
    }
    Ok(counted)
}

/// Adds instructions to the line of their workload. If valgrind changes the
/// executed code, they get a separate line after it.
fn add(
    costs: &mut Vec<(Key, Cost)>,
    contestant: Contestant,
    workload: &Workload,
    instructions: f64,
) -> Outcome {
    let key = |name: &str| [contestant.peer.name, contestant.mode.name(), name].map(str::to_owned);
    let own = key(workload.name);
    let index = costs.iter().position(|(known, _)| *known == own);
    let index = index.ok_or(format!("the allocations of {own:?} were not counted"))?;
    let instructions = Some(instructions);
    if workload.hashes() {
        let cost = Cost { instructions, allocations: None };
        costs.insert(index + 1, (key(&format!("{}-soft", workload.name)), cost));
    } else {
        costs[index].1.instructions = instructions;
    }
    Ok(())
}

/// Prints the instructions of a request by function: `<server> <mode>
/// <workload>`.
pub(crate) fn profile(args: &[String]) -> Outcome {
    let [server, mode, workload] = args else {
        return Err("usage: cargo xtask bench profile <server> <mode> <workload>".to_owned());
    };
    let peer = PEERS.iter().find(|peer| peer.name == server).ok_or(format!("no {server:?}"))?;
    let contestant = peer.contestants().find(|contestant| contestant.mode.name() == mode);
    let contestant = contestant.ok_or(format!("{server} has no mode {mode:?}"))?;
    let workload = workload::all().into_iter().find(|own| own.name == workload);
    let workload = workload.filter(|workload| workload.runs_in(contestant.mode));
    let workload = workload.ok_or(format!("{contestant} is not asked this"))?;
    let package = peer.package().ok_or(format!("{server} is no program"))?;
    place::build(&[&package])?;
    let dump = Callgrind::start(contestant)?.count(&workload)?;
    let whole = total(&dump)?;
    println!("{contestant} {}: {:.0} instructions", workload.name, whole / f64::from(REQUESTS));
    for (name, cost) in profile::functions(&dump).into_iter().take(FUNCTIONS) {
        let name: String = name.chars().take(110).collect();
        println!("{:7.0} {:5.1} %  {name}", cost / f64::from(REQUESTS), cost / whole * 100.0);
    }
    Ok(())
}

/// The number of functions in a profile.
const FUNCTIONS: usize = 30;

/// A server under callgrind.
struct Callgrind {
    contestant: Contestant,
    server: Server,
    file: PathBuf,
    dumps: u32,
}

impl Callgrind {
    fn start(contestant: Contestant) -> Outcome<Self> {
        let file = place::target()?.join(format!("callgrind.{}", contestant.mode.name()));
        let plain = contestant.command()?;
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind"]);
        command.arg(format!("--callgrind-out-file={}", file.display()));
        command.arg(plain.get_program()).args(plain.get_args());
        Ok(Self { contestant, server: Server::start(command)?, file, dumps: 0 })
    }

    /// Returns the dump for [`REQUESTS`] requests on a warm connection.
    fn count(&mut self, workload: &Workload) -> Outcome<String> {
        let mut client = Client::connect(self.server.address).map_err(|error| error.to_string())?;
        ask(&mut client, self.contestant, workload, WARM_UP)?;
        self.control("zero")?;
        ask(&mut client, self.contestant, workload, REQUESTS)?;
        self.dump()
    }

    /// Returns the counts since the last `zero`.
    fn dump(&mut self) -> Outcome<String> {
        self.control("dump")?;
        self.dumps += 1;
        let path = format!("{}.{}", self.file.display(), self.dumps);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        // A failure to remove the file has no effect.
        let _ = fs::remove_file(Path::new(&path));
        Ok(text)
    }

    fn control(&self, order: &str) -> Outcome {
        let mut command = Command::new("vgdb");
        command.arg(format!("--pid={}", self.server.id())).arg(order);
        let output = command.output().map_err(|error| format!("vgdb: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("vgdb {order}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Returns the total instructions of a dump.
fn total(dump: &str) -> Outcome<f64> {
    let summary = dump.lines().find_map(|line| line.strip_prefix("summary: "));
    summary.and_then(|count| count.trim().parse().ok()).ok_or("a dump has no summary".to_owned())
}

fn ask(client: &mut Client, contestant: Contestant, workload: &Workload, requests: u32) -> Outcome {
    for _ in 0..requests {
        let answer = client.ask(&workload.request).map_err(|error| error.to_string())?;
        workload.check(contestant.mode, &answer)?;
    }
    Ok(())
}

const WARM_UP: u32 = 50;

const REQUESTS: u32 = 500;

/// Prints a table and fails if a cost exceeds its limit.
fn compare(costs: &[(Key, Cost)], recorded: &BTreeMap<Key, Cost>, valgrind: bool) -> Outcome {
    println!("\n| server, mode, workload | instructions | recorded | allocations | recorded |");
    println!("|---|--:|--:|--:|--:|");
    for (key, cost) in costs {
        let limit = recorded.get(key).copied().unwrap_or_default();
        println!(
            "| {} | {} | {} | {} | {} |",
            key.join(" "),
            written(cost.instructions, 0),
            written(limit.instructions, 0),
            written(cost.allocations, 1),
            written(limit.allocations, 1),
        );
    }
    println!();
    let faults = limits::faults(costs, recorded, valgrind);
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "not as counts.txt has it, with 5 % above:\n{}\n\
         if it must be so: cargo xtask bench counts --save",
        faults.join("\n")
    ))
}
