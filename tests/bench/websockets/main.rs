//! Echoes 64-byte texts with stockade and its peers, and compares the CPU time
//! per message in one run.
//!
//! Each server is a separate process with a single-threaded runtime. A round
//! loads all servers in turn, so other work on the machine affects all of them.
//! The result is the median of the ratios within the rounds. The CPU time is
//! the time that Linux counts for the threads of the server, in nanoseconds.
//!
//! See README.md in this folder for instructions and results.

mod load;
mod process;
mod servers;

use std::env;
use std::path::Path;

use load::Connection;
use process::Server;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    match env::args().nth(1) {
        Some(name) => servers::serve(&name),
        None => compare(),
    }
}

/// The number of messages in flight, and our maximum CPU time relative to
/// fastwebsockets.
const GOALS: [(usize, f64); 2] = [(1, 1.05), (16, 0.35)];

/// Rounds are many and short, so other work on the machine affects only a few.
const ROUNDS: usize = 80;

/// Messages for one server in one round.
const MESSAGES: usize = 800;

fn compare() -> Result<(), Error> {
    let cores = process::pin();
    let mut servers = Vec::new();
    for name in servers::NAMES {
        servers.push(Server::start(name, cores)?);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"));
    if script.join("node_modules/ws").exists() {
        servers.push(Server::start_node(&script.join("ws.mjs"), cores)?);
    } else {
        println!("SKIPPED: npm `ws` (run `npm ci` in {})", script.display());
    }
    let mut above = Vec::new();
    for (in_flight, goal) in GOALS {
        let ratio = compare_at(&servers, in_flight)?;
        println!("ours / fastwebsockets: {ratio:.3}, the goal is at most {goal}\n");
        if ratio > goal {
            above.push(format!("{ratio:.3} with {in_flight} in flight, not {goal}"));
        }
    }
    if above.is_empty() { Ok(()) } else { Err(above.join("; ").into()) }
}

/// Prints a table and returns our ratio to fastwebsockets.
fn compare_at(servers: &[Server], in_flight: usize) -> Result<f64, Error> {
    let mut connections = Vec::new();
    for server in servers {
        let mut connection = Connection::open(server.address())?;
        connection.echo(MESSAGES, in_flight)?;
        connections.push(connection);
    }
    // One column for each server, one line for each round.
    let mut rounds: Vec<Vec<f64>> = Vec::new();
    for round in 0..ROUNDS {
        let mut costs = vec![0.0; servers.len()];
        // The first server changes from round to round.
        for step in 0..servers.len() {
            let index = (round + step) % servers.len();
            let before = servers[index].cpu()?;
            connections[index].echo(MESSAGES, in_flight)?;
            let spent = servers[index].cpu()? - before;
            costs[index] = spent.as_secs_f64() * 1e6 / MESSAGES as f64;
        }
        rounds.push(costs);
    }
    println!("{in_flight} in flight: medians of {ROUNDS} rounds of {MESSAGES} messages");
    println!("{:<20} {:>14} {:>22}", "", "CPU/message", "/ fastwebsockets");
    let mut ours = 0.0;
    for (index, server) in servers.iter().enumerate() {
        let cost = median(rounds.iter().map(|costs| costs[index]));
        let ratio = median(rounds.iter().map(|costs| costs[index] / costs[servers::JUDGE]));
        println!("{:<20} {:>11.2} µs {:>22.3}", server.name(), cost, ratio);
        if index == servers::OURS {
            ours = ratio;
        }
    }
    Ok(ours)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = values[values.len() / 2];
    (values[(values.len() - 1) / 2] + upper) / 2.0
}
