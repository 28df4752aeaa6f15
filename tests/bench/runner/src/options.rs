//! [`Options`]: what the command line asks for.

use bench_common::workload::{self, Workload};

use crate::Outcome;
use crate::contestant::{PEERS, Peer};

/// What is measured, and for how long.
pub(crate) struct Options {
    /// Who takes part; the first is what the others are measured by.
    pub(crate) peers: Vec<&'static Peer>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) rounds: usize,
    /// How long each measurement lasts, in seconds.
    pub(crate) seconds: f64,
    /// Whether memory, start, system calls and lookups are measured too.
    pub(crate) extras: bool,
    /// Whether to go on with the run before, instead of beginning anew.
    pub(crate) resume: bool,
    /// Whether the results are copied to the folder of the benchmark.
    pub(crate) save: bool,
}

pub(crate) const USAGE: &str = "\
usage: cargo xtask bench [--peers a,b] [--workloads x,y] [--rounds n] [--seconds s]
                         [--resume] [--save]
       cargo xtask bench --smoke
       cargo xtask bench counts [--save]
       cargo xtask bench profile <server> <mode> <workload>";

impl Options {
    pub(crate) fn parse(args: &[String]) -> Outcome<Self> {
        let mut options = Self {
            peers: PEERS.iter().collect(),
            workloads: workload::all(),
            rounds: 5,
            seconds: 0.5,
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
                "--workloads" => options.workloads = workloads(value()?)?,
                "--rounds" => options.rounds = number(name, value()?)? as usize,
                "--seconds" => options.seconds = number(name, value()?)?,
                _ => return Err(format!("what is {name}?\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// So little that it only shows that everything works.
    fn smoke(&mut self) {
        self.peers.truncate(2);
        self.rounds = 1;
        self.seconds = 0.3;
        self.extras = false;
    }
}

/// The named peers, and hyper before them.
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
    let mut all = workload::all();
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
