//! [`Turns`]: all measurements and their table.

use std::fmt::Write as _;
use std::fs;

use bench_runner::median::median;
use bench_runner::{Outcome, place, turns};
use bench_scenarios::Scenario;

use crate::contestant::Contestant;
use crate::load::Sample;
use crate::options::Options;

/// One round of a scenario, with hyper first and last.
type Round = Vec<(Contestant, Sample)>;

/// All rounds.
pub(crate) struct Turns {
    scenarios: Vec<Scenario>,
    rounds: Vec<(Scenario, Round)>,
    seconds: f64,
}

/// Reads one figure of a sample.
type Figure = fn(&Sample) -> f64;

/// Returns a terminal line about one measurement.
pub(crate) fn line(
    number: usize,
    scenario: Scenario,
    contestant: Contestant,
    sample: &Sample,
) -> String {
    format!(
        "{} {:<9} {:<17} {:>8.2} µs CPU, {:>8.0}/s, p99 {:>6.0} µs, busy {:>3.0} %, load {:>3.0} %",
        number + 1,
        scenario.name(),
        contestant.to_string(),
        sample.cpu,
        sample.rate,
        sample.p99,
        sample.busy * 100.0,
        sample.load_busy * 100.0,
    )
}

impl Turns {
    pub(crate) fn new(options: &Options) -> Self {
        let scenarios = options.scenarios.clone();
        Self { scenarios, rounds: Vec::new(), seconds: options.seconds }
    }

    pub(crate) fn add(&mut self, scenario: Scenario, round: Round) {
        self.rounds.push((scenario, round));
    }

    /// Prints the table and, if `save` is set, writes it to the folder of the
    /// benchmark.
    pub(crate) fn publish(&self, save: bool) -> Outcome {
        let text = self.text();
        println!("\n{text}");
        if save {
            let path = place::folder().join("scenarios.md");
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let rounds = self.rounds.len() / self.scenarios.len().max(1);
        let mut text = format!(
            "# Results of the scenarios\n\n\
             Medians of {rounds} rounds of {} s on {}.\n\
             Ratios are computed within a round. The goal of stockade is at most 1.05 × the best \
             of hyper, axum and actix.\n\n\
             | scenario | server | CPU µs per unit | to hyper | to the best peer | p50 ms | p99 ms | units/s | server / load busy |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n",
            self.seconds,
            place::machine(),
        );
        for &scenario in &self.scenarios {
            for contestant in Contestant::ALL {
                text.push_str(&self.row(scenario, contestant));
            }
        }
        text.push_str("\nThe two runs of hyper in a round differ by ");
        let noises = self.scenarios.iter().map(|&scenario| {
            format!("{:.0} % ({})", self.noise(scenario) * 100.0, scenario.name())
        });
        let _ = writeln!(text, "{}.", noises.collect::<Vec<_>>().join(", "));
        text.push_str("Smaller differences are noise.\n");
        text
    }

    fn row(&self, scenario: Scenario, contestant: Contestant) -> String {
        let median_of = |figure: Figure| {
            median(self.rounds_of(scenario).map(|round| mean(round, contestant, figure)))
        };
        let best = self.best(scenario);
        let ms = |figure: Figure| format!("{:.2}", median_of(figure) / 1_000.0);
        format!(
            "| {} [{}] | {contestant} | {:.2} | {:.2} | {:.2} | {} | {} | {:.0} | {:.0} % / {:.0} % |\n",
            scenario.name(),
            scenario.unit(),
            median_of(|sample| sample.cpu),
            self.ratio(scenario, contestant, Contestant::ALL[0]),
            self.ratio(scenario, contestant, best),
            ms(|sample| sample.p50),
            ms(|sample| sample.p99),
            median_of(|sample| sample.rate),
            median_of(|sample| sample.busy) * 100.0,
            median_of(|sample| sample.load_busy) * 100.0,
        )
    }

    /// Returns the peer with the lowest ratio to hyper.
    fn best(&self, scenario: Scenario) -> Contestant {
        let hyper = Contestant::ALL[0];
        let ratio = |contestant| self.ratio(scenario, contestant, hyper);
        let peers = Contestant::ALL.into_iter().filter(|contestant| contestant.is_peer());
        peers.min_by(|one, other| ratio(*one).total_cmp(&ratio(*other))).unwrap_or(hyper)
    }

    /// Returns the median ratio of two contestants, computed within each round.
    fn ratio(&self, scenario: Scenario, one: Contestant, other: Contestant) -> f64 {
        let cpu: Figure = |sample| sample.cpu;
        median(
            self.rounds_of(scenario).map(|round| mean(round, one, cpu) / mean(round, other, cpu)),
        )
    }

    /// Returns the difference between hyper's two turns of a round, as a
    /// fraction of the smaller one.
    fn noise(&self, scenario: Scenario) -> f64 {
        median(self.rounds_of(scenario).map(|round| {
            let [(_, first), .., (_, last)] = round else { return f64::NAN };
            turns::apart(first.cpu, last.cpu)
        }))
    }

    fn rounds_of(&self, scenario: Scenario) -> impl Iterator<Item = &[(Contestant, Sample)]> {
        let rounds = self.rounds.iter().filter(move |(own, _)| *own == scenario);
        rounds.map(|(_, round)| &**round)
    }
}

/// Returns the mean of a figure over the turns of a contestant in a round;
/// hyper has two turns.
fn mean(round: &[(Contestant, Sample)], contestant: Contestant, figure: Figure) -> f64 {
    let turns = || round.iter().filter(|(own, _)| *own == contestant);
    turns().map(|(_, sample)| figure(sample)).sum::<f64>() / turns().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_formed_within_a_round() {
        let sample = |cpu| Sample { cpu, ..Sample::default() };
        let [hyper, stockade, _, axum, actix] = Contestant::ALL;
        let round = [(hyper, 2.0), (stockade, 6.0), (axum, 2.0), (actix, 9.0), (hyper, 4.0)];
        let round = round.map(|(contestant, cpu)| (contestant, sample(cpu))).to_vec();
        let scenarios = vec![Scenario::Large];
        let turns = Turns { rounds: vec![(Scenario::Large, round)], scenarios, seconds: 1.0 };
        assert_eq!(turns.ratio(Scenario::Large, stockade, hyper), 2.0);
        assert_eq!(turns.best(Scenario::Large), axum);
        assert_eq!(turns.ratio(Scenario::Large, stockade, turns.best(Scenario::Large)), 3.0);
        assert_eq!(turns.noise(Scenario::Large), 1.0);
    }
}
