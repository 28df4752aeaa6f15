//! One-time measurements for each contestant: memory, start, size and system
//! calls.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use bench_common::client::Client;
use bench_common::workload::{self, Workload};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::contestant::Contestant;
use crate::place::{LOAD, SERVER};
use crate::row::median;
use crate::sample::{check, load, memory};
use crate::server::Server;
use crate::{Outcome, place};

/// The results, with `None` if a measurement was not possible.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Extras {
    /// The memory after the first response, in KiB.
    pub(crate) start: u64,
    /// The memory of an idle connection in KiB: immediately, and after 6 s.
    pub(crate) idle: Option<[f64; 2]>,
    /// The memory during the third wave of connections, as a fraction of the
    /// memory during the second.
    pub(crate) third_wave: Option<f64>,
    /// The time from the start of the process to the first response, in
    /// milliseconds.
    pub(crate) cold: f64,
    /// The size of the program, in KiB.
    pub(crate) size: Option<u64>,
    /// System calls per request under load.
    pub(crate) calls: Option<f64>,
}

/// Runs all measurements.
pub(crate) fn measure(contestant: Contestant) -> Outcome<Extras> {
    let workload = first_of(contestant);
    let colds: Outcome<Vec<f64>> = (0..COLD_STARTS).map(|_| cold(contestant, &workload)).collect();
    let enough_files = raise_limit();
    let server = Server::start_on(SERVER, contestant.command()?)?;
    check(&server, contestant, &workload)?;
    let start = memory(server.id(), "VmRSS:")?;
    let waves = if enough_files { Some(waves(&server, &workload, start)?) } else { None };
    drop(server);
    let program = contestant.program();
    Ok(Extras {
        start,
        idle: waves.map(|(idle, _)| idle),
        third_wave: waves.map(|(_, third)| third),
        cold: median(colds?.into_iter()),
        size: program.and_then(|path| fs::metadata(path).ok()).map(|data| data.len() / 1_024),
        calls: calls(contestant, &workload)?,
    })
}

const COLD_STARTS: usize = 5;

/// Returns the smallest request of the mode.
fn first_of(contestant: Contestant) -> Workload {
    let wanted = |workload: &Workload| {
        workload.runs_in(contestant.mode) && ["json", "full"].contains(&workload.name)
    };
    let mut all = workload::all();
    let at = all.iter().position(wanted).unwrap_or_default();
    all.swap_remove(at)
}

fn cold(contestant: Contestant, workload: &Workload) -> Outcome<f64> {
    let command = contestant.command()?;
    let begin = Instant::now();
    let server = Server::start_on(SERVER, command)?;
    let mut client = Client::connect(server.address).map_err(|error| error.to_string())?;
    client.ask(&workload.request).map_err(|error| error.to_string())?;
    Ok(begin.elapsed().as_secs_f64() * 1_000.0)
}

/// Raises the file limit for this process and the servers that it starts.
fn raise_limit() -> bool {
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS as u64 + 100;
    if limit.maximum.is_some_and(|maximum| maximum < wanted) {
        place::skip("10,000 idle connections, because a process may not have so many files");
        return false;
    }
    let raised =
        Rlimit { current: Some(limit.current.map_or(wanted, |own| own.max(wanted))), ..limit };
    setrlimit(Resource::Nofile, raised).is_ok()
}

const CONNECTIONS: usize = 10_000;

/// Opens three waves of idle connections. Returns their costs, and the memory
/// of the third wave relative to the second.
fn waves(server: &Server, workload: &Workload, start: u64) -> Outcome<([f64; 2], f64)> {
    let each = |now: u64| now.saturating_sub(start) as f64 / CONNECTIONS as f64;
    let mut idle = [0.0; 2];
    let mut with = [0; 3];
    for (number, with) in with.iter_mut().enumerate() {
        let mut connections = open(server.address, workload)?;
        *with = memory(server.id(), "VmRSS:")?;
        if number == 0 {
            idle[0] = each(*with);
            thread::sleep(IDLE);
            idle[1] = each(memory(server.id(), "VmRSS:")?);
            // A server that has closed the connections would seem to need
            // little memory.
            let asked = connections[0].ask(&workload.request);
            asked.map_err(|error| format!("an idle connection is gone: {error}"))?;
        }
        for connection in &connections {
            connection.reset().map_err(|error| error.to_string())?;
        }
        drop(connections);
        until_closed(server)?;
    }
    Ok((idle, with[2] as f64 / with[1] as f64))
}

/// Waits until the server has closed its side of the connections.
fn until_closed(server: &Server) -> Outcome {
    let begin = Instant::now();
    while server.open_files()? > CONNECTIONS / 100 {
        if begin.elapsed() > PATIENCE {
            return Err("a server keeps connections that have ended".to_owned());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

const PATIENCE: Duration = Duration::from_secs(60);

const IDLE: Duration = Duration::from_secs(6);

/// Opens connections and reads one response on each.
fn open(address: SocketAddr, workload: &Workload) -> Outcome<Vec<Client>> {
    let connection = |_| {
        let mut client = Client::connect(address)?;
        client.ask(&workload.request)?;
        Ok(client)
    };
    let connections: Result<_, std::io::Error> = (0..CONNECTIONS).map(connection).collect();
    connections.map_err(|error| format!("not all of {CONNECTIONS} connections: {error}"))
}

/// Returns the system calls per request: the median of several turns, counted
/// by perf.
fn calls(contestant: Contestant, workload: &Workload) -> Outcome<Option<f64>> {
    let server = Server::start_on(SERVER, contestant.command()?)?;
    // perf only sees existing threads; all exist after a response.
    check(&server, contestant, workload)?;
    let mut counts = Vec::new();
    for _ in 0..TURNS {
        let Some(count) = count(&server, workload)? else {
            place::skip("system calls per request, because perf cannot count them here");
            return Ok(None);
        };
        counts.push(count);
    }
    Ok(Some(median(counts.into_iter())))
}

const TURNS: usize = 3;

/// The length of each turn, in seconds.
const TURN: f64 = 0.5;

fn count(server: &Server, workload: &Workload) -> Outcome<Option<f64>> {
    // perf counts all requests of the load, so there is no warm-up.
    let plain = load(server, workload, 0.0, TURN)?;
    let counted = place::target()?.join("perf.txt");
    let mut command = Command::new("perf");
    command.args(["stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o"]).arg(&counted);
    command.args(["-p", &server.id().to_string(), "--"]);
    command.arg(plain.get_program()).args(plain.get_args());
    let Ok(text) = place::on(LOAD, || place::output(&mut command))? else { return Ok(None) };
    let report: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let requests = report["requests"].as_f64().unwrap_or_default();
    let counted = fs::read_to_string(counted).map_err(|error| error.to_string())?;
    let line = counted.lines().find(|line| line.contains("sys_enter")).unwrap_or_default();
    let count = line.split(',').next().and_then(|count| count.parse::<f64>().ok());
    Ok(count.filter(|_| requests > 0.0).map(|count| count / requests))
}
