//! The rounds: A B C … A, in reverse order in every second round.

use bench_common::workload::Workload;

use crate::contestant::{Contestant, Peer};
use crate::journal::{Journal, Round};
use crate::options::Options;
use crate::pace;
use crate::sample::{self, Sample};
use crate::server::Server;
use crate::{Outcome, extras, matching, place, report, turns};

/// Builds, checks, measures and reports.
///
/// A round runs all workloads, so the rounds of each are spread over the whole
/// run. Results are written to the journal immediately.
pub(crate) fn run(options: &Options) -> Outcome {
    let peers = prepare(&options.peers)?;
    let contestants: Vec<Contestant> = peers.iter().flat_map(|peer| peer.contestants()).collect();
    check_all(&contestants)?;

    let mut journal = Journal::open(&contestants, options)?;
    for number in 0..options.rounds {
        for workload in &options.workloads {
            if !journal.has(number, workload) {
                let taken =
                    measure(&contestants, workload, number, options.seconds(workload.paced))?;
                journal.add_round(Round { number, workload: workload.name.to_owned(), taken })?;
            }
        }
        report::write(&journal, options)?;
    }
    if options.extras {
        rest(&contestants, &mut journal, options)?;
    }
    report::publish(&journal, options)
}

/// Runs the measurements outside the rounds.
fn rest(contestants: &[Contestant], journal: &mut Journal, options: &Options) -> Outcome {
    for &contestant in contestants {
        if !journal.has_extras(contestant) {
            println!("{contestant}: memory, start, system calls");
            journal.add_extras(contestant, extras::measure(contestant)?)?;
            report::write(journal, options)?;
        }
    }
    while journal.lookups.len() < LOOKUPS {
        journal.add_lookups(matching::measure()?)?;
        report::write(journal, options)?;
    }
    Ok(())
}

/// The number of runs of the lookup benchmark, which measures each competitor
/// only once per run.
const LOOKUPS: usize = 3;

/// Builds and installs the peers, and returns the available ones.
fn prepare(peers: &[&'static Peer]) -> Outcome<Vec<&'static Peer>> {
    let packages: Vec<String> = peers.iter().filter_map(|peer| peer.package()).collect();
    place::build(&["bench-load"])?;
    place::build(&packages.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut there = peers.to_vec();
    if packages.len() < peers.len() && !place::install() {
        place::skip("fastify and express, because node, npm or their packages are missing");
        there.retain(|peer| peer.package().is_some());
    }
    Ok(there)
}

/// Checks every response of every contestant before any measurement.
fn check_all(contestants: &[Contestant]) -> Outcome {
    for &contestant in contestants {
        let server = Server::start(contestant.command()?)?;
        for workload in bench_common::workload::all() {
            if workload.runs_in(contestant.mode) {
                sample::check(&server, contestant, &workload)?;
            }
        }
        println!("{contestant}: all answers are right");
    }
    Ok(())
}

/// Measures one workload in one round.
fn measure(
    contestants: &[Contestant],
    workload: &Workload,
    number: usize,
    seconds: f64,
) -> Outcome<Vec<(String, Sample)>> {
    let belonging: Vec<Contestant> =
        contestants.iter().copied().filter(|contestant| belongs(*contestant, workload)).collect();
    // Hyper starts and ends the round.
    let order = turns::order(&belonging, number);
    let &hyper = order.first().ok_or(format!("nobody takes part in {}", workload.name))?;
    let rate = if workload.paced { Some(pace::find(hyper, workload)?) } else { None };
    let take = |contestant: Contestant| {
        let sample = Sample::take(contestant, workload, seconds, rate)?;
        println!("{}", line(number, workload, contestant, &sample));
        Ok((contestant.to_string(), sample))
    };
    order.into_iter().map(take).collect()
}

/// Returns true if the modes match: full mode workloads are compared with hyper
/// in full mode, all others with hyper in bare mode.
fn belongs(contestant: Contestant, workload: &Workload) -> bool {
    let is_full = contestant.mode == bench_common::Mode::Full;
    workload.full == is_full
        && workload.runs_in(contestant.mode)
        && contestant.peer.is_asked(workload)
}

fn line(number: usize, workload: &Workload, contestant: Contestant, sample: &Sample) -> String {
    format!(
        "{} {:<7} {:<17} {:>7.2} µs CPU, {:>8.0}/s, p99 {:>6.0} µs, busy {:>3.0} %, load {:>3.0} %",
        number + 1,
        workload.name,
        contestant.to_string(),
        sample.cpu,
        sample.rate,
        sample.p99,
        sample.busy * 100.0,
        sample.load_busy * 100.0,
    )
}
