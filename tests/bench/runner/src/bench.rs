//! The rounds: A B C … A, and the other way round in each second round.

use bench_common::workload::Workload;

use crate::contestant::{Contestant, Peer};
use crate::extras::{self, Extras};
use crate::options::Options;
use crate::sample::{self, Sample};
use crate::server::Server;
use crate::{Outcome, place, report};

/// What was measured of one contestant under one workload, round by round.
pub(crate) struct Row {
    pub(crate) contestant: Contestant,
    pub(crate) workload: &'static str,
    pub(crate) samples: Vec<Sample>,
    /// Processor time and requests per second, each divided by what hyper had in
    /// the same round, first and last.
    pub(crate) ratios: Vec<[f64; 2]>,
}

/// Builds, checks, measures and reports.
pub(crate) fn run(options: &Options) -> Outcome {
    let peers = prepare(&options.peers)?;
    let contestants: Vec<Contestant> = peers.iter().flat_map(|peer| peer.contestants()).collect();
    check_all(&contestants)?;

    let mut rows = Vec::new();
    for workload in &options.workloads {
        rows.extend(measure(&contestants, workload, options)?);
    }
    let mut extras: Vec<(Contestant, Extras)> = Vec::new();
    if options.extras {
        for &contestant in &contestants {
            println!("{contestant}: memory, start, system calls");
            extras.push((contestant, extras::measure(contestant)?));
        }
    }
    report::write(&rows, &extras, options)
}

/// Builds and installs what is measured, and gives those that are there.
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

/// Every contestant answers every request as it should, before any is measured.
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

/// All rounds of one workload.
fn measure(
    contestants: &[Contestant],
    workload: &Workload,
    options: &Options,
) -> Outcome<Vec<Row>> {
    let mut rows: Vec<Row> = contestants
        .iter()
        .filter(|contestant| belongs(**contestant, workload))
        .map(|&contestant| Row {
            contestant,
            workload: workload.name,
            samples: Vec::new(),
            ratios: Vec::new(),
        })
        .collect();
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (1..rows.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        // The first row is hyper's: it begins and ends the round.
        let order = std::iter::once(0).chain(order).chain([0]);
        let mut taken = Vec::new();
        for at in order {
            let sample = Sample::take(rows[at].contestant, workload, options.seconds)?;
            println!("{}", line(&rows[at], &sample));
            taken.push((at, sample));
        }
        keep(&mut rows, &taken);
    }
    Ok(rows)
}

/// A workload of full mode is compared with hyper in full mode, any other with
/// hyper in bare mode.
fn belongs(contestant: Contestant, workload: &Workload) -> bool {
    let is_full = contestant.mode == bench_common::Mode::Full;
    workload.full == is_full && workload.runs_in(contestant.mode)
}

fn keep(rows: &mut [Row], taken: &[(usize, Sample)]) {
    let of_hyper = |value: fn(&Sample) -> f64| {
        let own: Vec<f64> =
            taken.iter().filter(|(at, _)| *at == 0).map(|(_, sample)| value(sample)).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let (cpu, rate) = (of_hyper(|sample| sample.cpu), of_hyper(|sample| sample.rate));
    for (at, sample) in taken {
        rows[*at].samples.push(*sample);
        rows[*at].ratios.push([sample.cpu / cpu, sample.rate / rate]);
    }
}

fn line(row: &Row, sample: &Sample) -> String {
    format!(
        "{:<9} {:<18} {:>7.2} µs CPU, {:>8.0}/s, p99 {:>6.0} µs, busy {:>3.0} %, load {:>3.0} %",
        row.workload,
        row.contestant.to_string(),
        sample.cpu,
        sample.rate,
        sample.p99,
        sample.busy * 100.0,
        sample.load_busy * 100.0,
    )
}
