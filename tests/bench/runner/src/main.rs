//! Builds the contestants, checks their responses, measures them, and writes
//! the results. `cargo xtask bench` starts it.

mod bench;
mod chart;
mod contestant;
mod counts;
mod extras;
mod goals;
mod journal;
mod limits;
mod matching;
mod options;
mod pace;
mod profile;
mod report;
mod row;
mod sample;

use std::env;
use std::process::ExitCode;

use bench_runner::{Outcome, place, server, turns};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let outcome = match args.first().map(String::as_str) {
        Some("counts") => {
            let asks = |option| args.iter().any(|arg| arg == option);
            counts::run(asks("--save"), asks("--short"))
        }
        Some("profile") => counts::profile(&args[1..]),
        Some("scenarios") => scenarios(&args[1..]),
        _ => options::Options::parse(&args).and_then(|options| bench::run(&options)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the benchmark of the scenarios, which is a separate package.
fn scenarios(args: &[String]) -> Outcome {
    let mut command = place::cargo()?;
    let program = ["-p", "bench-scenarios", "--bin", "bench-scenarios", "--"];
    command.args(["run", "--quiet", "--locked", "--profile", "scenarios"]).args(program);
    place::run(command.args(args))
}
