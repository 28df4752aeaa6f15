//! [`Row`]: all measurements of one contestant with one workload.

pub(crate) use bench_runner::median::median;

use crate::journal::Round;
use crate::sample::Sample;
use crate::turns;

/// All measurements of one contestant with one workload.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// A peer and its mode, such as `hyper bare`.
    pub(crate) contestant: String,
    pub(crate) workload: String,
    measured: Vec<Measured>,
}

/// A sample, and hyper's first and last samples in the same round.
#[derive(Clone, Copy, Debug)]
struct Measured {
    sample: Sample,
    hyper: [Sample; 2],
}

/// Reads one figure of a sample.
pub(crate) type Figure = fn(&Sample) -> f64;

impl Row {
    /// Returns the median of a figure over the rounds.
    pub(crate) fn median(&self, figure: Figure) -> f64 {
        median(self.measured.iter().map(|measured| figure(&measured.sample)))
    }

    /// Returns the median of the ratios to hyper, each computed within its
    /// round.
    pub(crate) fn ratio(&self, figure: Figure) -> f64 {
        median(self.measured.iter().map(|Measured { sample, hyper }| {
            figure(sample) / (figure(&hyper[0]) + figure(&hyper[1])) * 2.0
        }))
    }

    /// Returns the fraction of processor time outside the kernel. It covers all
    /// rounds, because the kernel's two clocks are coarse. Returns `None` if
    /// the clocks have not advanced.
    pub(crate) fn user_share(&self) -> Option<f64> {
        let sum = |figure: Figure| -> f64 {
            self.measured
                .iter()
                .map(|measured| figure(&measured.sample) * measured.sample.rate)
                .sum()
        };
        let (user, system) = (sum(|sample| sample.user), sum(|sample| sample.system));
        Some(user / (user + system)).filter(|share| share.is_finite())
    }

    /// Returns the number of rounds. Hyper, which is the first row, has two
    /// turns per round.
    pub(crate) fn rounds(&self) -> usize {
        self.measured.len() / 2
    }

    /// Returns true if the workload has a pace.
    pub(crate) fn is_paced(&self) -> bool {
        self.measured.iter().any(|measured| measured.sample.asked.is_some())
    }

    /// Returns the difference between hyper's two turns of a round, as a
    /// fraction of the smaller figure. This is the noise of the machine.
    pub(crate) fn noise(&self, figure: Figure) -> f64 {
        median(
            self.measured.iter().map(|Measured { hyper: [first, last], .. }| {
                turns::apart(figure(first), figure(last))
            }),
        )
    }
}

/// Returns the rows of all rounds, in the order of the first round of each
/// workload.
pub(crate) fn rows(rounds: &[Round]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for round in rounds {
        let [(_, first), .., (_, last)] = &round.taken[..] else { continue };
        for (contestant, sample) in &round.taken {
            let measured = Measured { sample: *sample, hyper: [*first, *last] };
            let is_same =
                |row: &&mut Row| row.contestant == *contestant && row.workload == round.workload;
            match rows.iter_mut().find(is_same) {
                Some(row) => row.measured.push(measured),
                None => rows.push(Row {
                    contestant: contestant.clone(),
                    workload: round.workload.clone(),
                    measured: vec![measured],
                }),
            }
        }
    }
    rows
}

/// Returns the rows of a round in which stockade is half as fast as hyper.
#[cfg(test)]
pub(crate) fn example(workload: &str, asked: Option<f64>) -> Vec<Row> {
    let sample = |p99| Sample {
        cpu: 8.0,
        rate: 1.0,
        p50: 50.0,
        p99,
        p999: 900.0,
        busy: 0.8,
        asked,
        ..Sample::default()
    };
    let taken = [("hyper bare", 100.0), ("stockade bare", 200.0), ("hyper bare", 100.0)];
    let taken = taken.map(|(name, p99)| (name.to_owned(), sample(p99))).to_vec();
    rows(&[Round { number: 0, workload: workload.to_owned(), taken }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_relative_to_the_mean_of_hyper_in_its_round() {
        let sample = |cpu| Sample { cpu, user: 1.0, system: 3.0, rate: 1.0, ..Sample::default() };
        let taken = [("hyper bare", 2.0), ("x bare", 6.0), ("hyper bare", 4.0)];
        let taken = taken.map(|(name, cpu)| (name.to_owned(), sample(cpu))).to_vec();
        let rows = rows(&[Round { number: 0, workload: "json".to_owned(), taken }]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].ratio(|sample| sample.cpu), 1.0);
        assert_eq!(rows[1].ratio(|sample| sample.cpu), 2.0);
        assert_eq!(
            (rows[1].user_share(), rows[1].noise(|sample| sample.cpu), rows[0].rounds()),
            (Some(0.25), 1.0, 1)
        );
    }
}
