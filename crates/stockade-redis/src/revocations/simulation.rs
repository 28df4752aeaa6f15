//! Simulates up to 1,000 processes that follow one revocation log, in virtual
//! time.
//!
//! Links are cut and the server loses its data. The test measures the time
//! until all processes have all revocations.
//!
//! The [`Cursor`] is the real one. The scripts and the rounds of the task are
//! reimplemented here.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use stockade_auth::Revocation;
use stockade_errors::random::Random;

use super::cursor::{COUNTER, Cursor, Member, Place};

/// The seeds of each run, including seeds that once failed.
const SEEDS: [u64; 3] = [1, 7, 4_711];
/// Times are in milliseconds.
const FAULTS_END: u64 = 20_000;
const END: u64 = 30_000;
const BETWEEN_READINGS: u64 = 50;
const BETWEEN_COMPARISONS: u64 = 5_000;
const BETWEEN_REPAIRS: u64 = 1_000;
const DEADLINE: u64 = 500;
/// Small, so that a log has several pages.
const PAGE: usize = 5;

/// The data of the scripts `add.lua` and `read.lua`.
#[derive(Default)]
struct Log {
    /// Sorted by number and bytes, as in Redis.
    members: BTreeSet<(u64, Vec<u8>)>,
    known: HashSet<Vec<u8>>,
    counters: u8,
    run: u64,
}

impl Log {
    fn add(&mut self, entry: &[u8]) {
        let (mut number, counter) = self.members.pop_last().unwrap_or_else(|| {
            self.counters += 1;
            (0, vec![COUNTER, self.counters])
        });
        if self.known.insert(entry.to_vec()) {
            number += 1;
            self.members.insert((number, entry.to_vec()));
        }
        self.members.insert((number, counter));
    }

    fn read(&self, from: u64) -> Vec<Member> {
        let found = self.members.range((from, Vec::new())..).take(PAGE);
        found.map(|(number, bytes)| (bytes.clone(), *number)).collect()
    }

    fn lose(&mut self) {
        self.members.clear();
        self.known.clear();
        self.run += 1;
    }
}

#[derive(Default)]
struct Node {
    cursor: Cursor,
    /// The entries that this process knows and rejects.
    known: HashSet<Revocation>,
    run: Option<u64>,
    compared: u64,
    repaired: Option<u64>,
    has_unsent: bool,
    is_cut_until: u64,
}

impl Node {
    /// Reads up to the end of the log or to a loss. Returns the entries.
    fn read(&mut self, log: &Log) -> (Place, Vec<Revocation>) {
        let mut entries = Vec::new();
        loop {
            let place = self.cursor.take(&log.read(self.cursor.next()), PAGE, &mut entries);
            if place != Place::Inside {
                return (place, entries);
            }
        }
    }

    /// Runs one round of the task. Returns the entries that are new to this
    /// process.
    fn round(&mut self, now: u64, log: &mut Log) -> Vec<Revocation> {
        let mut needs_repair = false;
        if self.run.is_none() || now >= self.compared + BETWEEN_COMPARISONS {
            needs_repair = self.run.replace(log.run).is_some_and(|before| before != log.run);
            self.compared = now;
        }
        let (place, mut read) = self.read(log);
        needs_repair |= place == Place::Lost;
        let is_empty = !self.cursor.has_begun() && !self.known.is_empty();
        let is_due = self.repaired.is_none_or(|last| now >= last + BETWEEN_REPAIRS);
        if needs_repair || (self.has_unsent || is_empty) && is_due {
            self.cursor = Cursor::default();
            let (_, all) = self.read(log);
            let missing = self.known.iter().filter(|it| !all.contains(it));
            let mut missing: Vec<_> = missing.map(Revocation::to_bytes).collect();
            // The iteration order of a set differs in each run.
            missing.sort_unstable();
            missing.iter().for_each(|entry| log.add(entry));
            read.extend(all);
            (self.has_unsent, self.repaired) = (false, Some(now));
        }
        read.into_iter().filter(|entry| self.known.insert(*entry)).collect()
    }
}

/// The delays from revocation to delivery, over all entries and processes.
struct Outcome {
    times: Vec<u64>,
    missing: usize,
}

fn entry(number: u64) -> Revocation {
    let mut bytes = vec![1; 25];
    bytes[1..9].copy_from_slice(&number.to_be_bytes());
    Revocation::from_bytes(&bytes).unwrap()
}

fn simulate(seed: u64, count: usize, has_faults: bool) -> Outcome {
    let (mut log, mut numbers) = (Log::default(), Random::new(seed));
    let mut nodes: Vec<Node> = std::iter::repeat_with(Node::default).take(count).collect();
    let mut rounds: BinaryHeap<Reverse<(u64, usize)>> =
        (0..count).map(|node| Reverse((numbers.below(BETWEEN_READINGS), node))).collect();
    let mut revoked: HashMap<Revocation, u64> = HashMap::new();
    let mut times = Vec::new();
    let (mut next_event, mut last_loss) = (1_000, 0);
    while let Some(Reverse((now, number))) = rounds.pop() {
        if now >= END {
            break;
        }
        if now >= next_event && now < FAULTS_END {
            next_event += 100;
            let by = usize::try_from(numbers.below(count as u64)).unwrap();
            let new = entry(revoked.len() as u64);
            revoked.insert(new, now);
            nodes[by].known.insert(new);
            if now < nodes[by].is_cut_until {
                nodes[by].has_unsent = true;
            } else {
                log.add(&new.to_bytes());
            }
            let fault = if has_faults { numbers.below(20) } else { 20 };
            if fault < 6 {
                let cut = usize::try_from(numbers.below(count as u64)).unwrap();
                // Two adjacent cuts would act as one longer cut.
                if now >= nodes[cut].is_cut_until + BETWEEN_COMPARISONS {
                    nodes[cut].is_cut_until = now + numbers.below(3_000);
                }
            } else if fault == 6 && now > last_loss + BETWEEN_COMPARISONS {
                last_loss = now;
                log.lose();
            }
        }
        let node = &mut nodes[number];
        if now < node.is_cut_until {
            rounds.push(Reverse((now + DEADLINE + BETWEEN_READINGS, number)));
            continue;
        }
        let back = now + 1 + numbers.below(20);
        let new = node.round(now, &mut log);
        times.extend(new.iter().map(|entry| back - revoked[entry]));
        rounds.push(Reverse((back + BETWEEN_READINGS + 1 + numbers.below(20), number)));
    }
    let missing = nodes.iter().map(|node| revoked.len() - node.known.len()).sum();
    times.sort_unstable();
    Outcome { times, missing }
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are for the book")]
fn all_processes_learn_all_revocations() {
    let is_long = std::env::var("STOCKADE_REDIS_LONG").is_ok();
    let sizes: &[usize] = if is_long { &[3, 30, 100, 1_000] } else { &[3, 30] };
    for &count in sizes {
        for (seed, has_faults) in SEEDS.into_iter().flat_map(|seed| [(seed, false), (seed, true)]) {
            let Outcome { times, missing } = simulate(seed, count, has_faults);
            let run = format!("{count} processes, seed {seed}, faults {has_faults}");
            assert_eq!(missing, 0, "{run}");
            let (p99, last) = (times[times.len() * 99 / 100], times[times.len() - 1]);
            eprintln!("revocations: {run}: p99 {p99} ms, last {last} ms");
            // The interval plus two round trips.
            assert!(has_faults || last <= BETWEEN_READINGS + 4 * 20, "{run}: {last}");
            // The longest cut, the last comparison, and the time to read the
            // restored entries.
            let most = 3_000 + BETWEEN_COMPARISONS + 2 * (DEADLINE + BETWEEN_REPAIRS);
            assert!(last <= most, "{run}: {last}");
        }
    }
}
