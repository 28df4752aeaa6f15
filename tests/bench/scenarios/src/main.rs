//! The scenarios: builds the servers, loads them in turns, and prints a table.
//! `cargo xtask bench scenarios` starts it.

mod contestant;
mod load;
mod options;
mod report;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use bench_runner::server::Server;
use bench_runner::{Outcome, place, turns};
use bench_scenarios::{Scenario, content, tls};

use crate::contestant::Contestant;
use crate::load::{Sample, Target};
use crate::options::Options;
use crate::report::Turns;

fn main() -> ExitCode {
    match Options::parse(env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench scenarios: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Outcome {
    contestant::build()?;
    let folder = place::target()?.join("scenarios-content");
    write_content(&folder)?;

    // All responses are checked before any measurement.
    for &scenario in &options.scenarios {
        for contestant in Contestant::ALL {
            take(contestant, scenario, &folder, [0.0, CHECK])?;
        }
        println!("{}: all answers are right", scenario.name());
    }

    let mut turns = Turns::new(options);
    for number in 0..options.rounds {
        for &scenario in &options.scenarios {
            let round = turns::order(&Contestant::ALL, number).into_iter().map(|contestant| {
                let sample = take(contestant, scenario, &folder, [WARM_UP, options.seconds])?;
                println!("{}", report::line(number, scenario, contestant, &sample));
                Ok((contestant, sample))
            });
            let round = round.collect::<Outcome<_>>()?;
            turns.add(scenario, round);
        }
    }
    turns.publish(options.save)
}

/// Measures a new server, on a separate processor if it has one worker.
fn take(
    contestant: Contestant,
    scenario: Scenario,
    folder: &Path,
    [warm_up, seconds]: [f64; 2],
) -> Outcome<Sample> {
    let command = contestant.command(scenario, folder)?;
    let shares = scenario.workers() > 1;
    let server =
        if shares { Server::start(command) } else { Server::start_on(place::SERVER, command) }?;
    let target = Target { scenario, address: server.address, process: server.id(), folder };
    let measured = match shares {
        true => load::measure(target, warm_up, seconds),
        false => place::on(place::LOAD, || load::measure(target, warm_up, seconds))?,
    };
    measured.map_err(|error| format!("{contestant} {}: {error}", scenario.name()))
}

/// The length of the warm-up before a measurement, and of the comparison of
/// responses, in seconds.
const WARM_UP: f64 = 0.2;
const CHECK: f64 = 0.1;

/// Writes the files that the servers read.
fn write_content(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fs::write(content::file_in(folder), content::file()).map_err(|error| error.to_string())?;
    tls::write(folder).map_err(|error| error.to_string())
}
