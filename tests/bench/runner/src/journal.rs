//! [`Journal`]: the measurements so far, written to disk immediately. An
//! interrupted run loses only seconds and can be resumed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::path::Path;

use bench_common::workload::Workload;
use serde::{Deserialize, Serialize};

use crate::contestant::Contestant;
use crate::extras::Extras;
use crate::matching::Lookups;
use crate::options::Options;
use crate::sample::Sample;
use crate::{Outcome, place};

/// The file `journal.jsonl` and its content.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    pub(crate) rounds: Vec<Round>,
    pub(crate) extras: Vec<(String, Extras)>,
    pub(crate) lookups: Vec<Lookups>,
}

/// All contestants with one workload, in the order of their turns: hyper is
/// first and last.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Round {
    pub(crate) number: usize,
    pub(crate) workload: String,
    pub(crate) taken: Vec<(String, Sample)>,
}

/// A line of the file.
#[derive(Debug, Deserialize, Serialize)]
enum Entry {
    Setup(Setup),
    Round(Round),
    Extras(String, Extras),
    Lookups(Lookups),
}

/// The settings that must be equal for results to be comparable.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Setup {
    seconds: Option<f64>,
    /// A hash of each contestant's program.
    programs: BTreeMap<String, u64>,
}

impl Journal {
    /// Opens an empty journal, or the journal of the last run with `--resume`.
    pub(crate) fn open(contestants: &[Contestant], options: &Options) -> Outcome<Self> {
        let setup = Setup::of(contestants, options)?;
        let path = place::target()?.join("journal.jsonl");
        let failed = |error| format!("{}: {error}", path.display());
        let before = match options.resume {
            true => fs::read_to_string(&path).map_err(failed)?,
            false => String::new(),
        };
        // The last line may be incomplete.
        let mut before = before.lines().map_while(|line| serde_json::from_str(line).ok());
        let is_other = |entry| !matches!(entry, Some(Entry::Setup(before)) if before == setup);
        if options.resume && is_other(before.next()) {
            return Err("other programs or seconds than before: go without --resume".to_owned());
        }
        let file = File::create(&path).map_err(failed)?;
        let mut journal =
            Self { file, rounds: Vec::new(), extras: Vec::new(), lookups: Vec::new() };
        journal.add(Entry::Setup(setup))?;
        before.try_for_each(|entry| journal.add(entry))?;
        Ok(journal)
    }

    /// Returns true if the workload was measured in the round.
    pub(crate) fn has(&self, number: usize, workload: &Workload) -> bool {
        self.rounds.iter().any(|round| round.number == number && round.workload == workload.name)
    }

    pub(crate) fn has_extras(&self, contestant: Contestant) -> bool {
        self.extras.iter().any(|(name, _)| *name == contestant.to_string())
    }

    pub(crate) fn add_round(&mut self, round: Round) -> Outcome {
        self.add(Entry::Round(round))
    }

    pub(crate) fn add_extras(&mut self, contestant: Contestant, extras: Extras) -> Outcome {
        self.add(Entry::Extras(contestant.to_string(), extras))
    }

    pub(crate) fn add_lookups(&mut self, lookups: Lookups) -> Outcome {
        self.add(Entry::Lookups(lookups))
    }

    fn add(&mut self, entry: Entry) -> Outcome {
        let line = serde_json::to_string(&entry).map_err(|error| error.to_string())?;
        writeln!(self.file, "{line}").map_err(|error| format!("journal.jsonl: {error}"))?;
        match entry {
            Entry::Setup(_) => {}
            Entry::Round(round) => self.rounds.push(round),
            Entry::Extras(name, extras) => self.extras.push((name, extras)),
            Entry::Lookups(lookups) => self.lookups.push(lookups),
        }
        Ok(())
    }
}

impl Setup {
    fn of(contestants: &[Contestant], options: &Options) -> Outcome<Self> {
        let programs = contestants
            .iter()
            .map(|contestant| Ok((contestant.to_string(), print_of(&contestant.file()?)?)));
        Ok(Self { seconds: options.seconds, programs: programs.collect::<Outcome<_>>()? })
    }
}

/// Returns a hash of a file.
fn print_of(path: &Path) -> Outcome<u64> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Ok(hasher.finish())
}
