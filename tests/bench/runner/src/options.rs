//! [`Options`]: the command line options.

use bench_common::workload::{self, Workload};

use crate::Outcome;
use crate::contestant::{PEERS, Peer};

/// The measurements to run, and their length.
pub(crate) struct Options {
    /// The participants; the first is the baseline.
    pub(crate) peers: Vec<&'static Peer>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) rounds: usize,
    /// The length of each measurement, in seconds. The default depends on the
    /// kind of workload.
    pub(crate) seconds: Option<f64>,
    /// True if memory, start, system calls and lookups are measured too. False
    /// if only the paced workload is selected.
    pub(crate) extras: bool,
    /// True if the previous run is resumed instead of starting a new one.
    pub(crate) resume: bool,
    /// True if the results are copied to the folder of the benchmark.
    pub(crate) save: bool,
}

pub(crate) const USAGE: &str = "\
usage: cargo xtask bench [--peers a,b] [--workloads x,y] [--rounds n] [--seconds s]
                         [--resume] [--save]
       cargo xtask bench --smoke
       cargo xtask bench counts [--save]
       cargo xtask bench profile <server> <mode> <workload>
       cargo xtask bench scenarios [--scenarios a,b] [--rounds n] [--seconds s] [--save]";

impl Options {
    pub(crate) fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self {
            peers: PEERS.iter().collect(),
            workloads: every(),
            rounds: 5,
            seconds: None,
            extras: true,
            resume: false,
            save: false,
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} needs a value\n{USAGE}"));
            match name.as_str() {
                "--smoke" => options.smoke(),
                "--resume" => options.resume = true,
                "--save" => options.save = true,
                "--peers" => options.peers = peers(value()?)?,
                "--workloads" => {
                    options.workloads = workloads(value()?)?;
                    options.extras &= options.workloads.iter().any(|workload| !workload.paced);
                }
                "--rounds" => options.rounds = number(name, value()?)? as usize,
                "--seconds" => options.seconds = Some(number(name, value()?)?),
                _ => return Err(format!("what is {name}?\n{USAGE}")),
            }
        }
        let Self { peers, workloads, .. } = &mut options;
        peers.retain(|peer| workloads.iter().any(|workload| peer.is_asked(workload)));
        Ok(options)
    }

    /// Returns the length of each measurement, in seconds, with or without a pace.
    pub(crate) fn seconds(&self, paced: bool) -> f64 {
        self.seconds.unwrap_or(if paced { PACED_SECONDS } else { SECONDS })
    }

    /// Reduces the work to a smoke test.
    fn smoke(&mut self) {
        self.peers.truncate(2);
        self.rounds = 1;
        self.seconds = Some(0.3);
        self.extras = false;
    }
}

const SECONDS: f64 = 0.5;

/// A paced workload measures the slowest requests, and there are only a few per
/// second.
const PACED_SECONDS: f64 = 3.0;

/// Returns all workloads, the paced one last.
fn every() -> Vec<Workload> {
    let mut every = workload::all();
    every.push(workload::paced());
    every
}

/// Returns hyper and the named peers.
fn peers(names: &str) -> Outcome<Vec<&'static Peer>> {
    let mut found = vec![&PEERS[0]];
    for name in names.split(',').filter(|name| *name != PEERS[0].name) {
        let peer = PEERS.iter().find(|peer| peer.name == name);
        found.push(peer.ok_or_else(|| {
            let names: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
            format!("{name:?} is none of {}", names.join(", "))
        })?);
    }
    Ok(found)
}

fn workloads(names: &str) -> Outcome<Vec<Workload>> {
    let mut all = every();
    for name in names.split(',') {
        if !all.iter().any(|workload| workload.name == name) {
            return Err(format!("there is no workload {name:?}"));
        }
    }
    all.retain(|workload| names.split(',').any(|name| name == workload.name));
    Ok(all)
}

fn number(name: &str, text: &str) -> Outcome<f64> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= 1_000.0);
    number.ok_or(format!("{name} needs a number from 0 to 1,000, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn only_a_paced_workload_has_separate_peers_and_time() -> Outcome {
        let options = parsed("--workloads p99")?;
        let names: Vec<&str> = options.peers.iter().map(|peer| peer.name).collect();
        assert_eq!(names, ["hyper", "stockade"]);
        assert_eq!(options.seconds(options.workloads[0].paced), PACED_SECONDS);
        assert!(!options.extras);
        Ok(())
    }

    #[test]
    fn all_workloads_have_all_peers() -> Outcome {
        let options = parsed("")?;
        assert_eq!(options.peers.len(), PEERS.len());
        assert_eq!(options.workloads.last().map(|workload| workload.name), Some("p99"));
        assert_eq!(options.seconds(options.workloads[0].paced), SECONDS);
        assert!(options.extras);
        assert_eq!(parsed("--seconds 2")?.seconds(true), 2.0);
        assert!(parsed("--workloads p98").is_err());
        Ok(())
    }
}
