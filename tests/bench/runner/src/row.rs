//! [`Row`]: all that was measured of one contestant under one workload.

pub(crate) use bench_runner::median::median;

use crate::journal::Round;
use crate::sample::Sample;
use crate::turns;

/// What was measured of one contestant under one workload.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// A peer and its mode, such as `hyper bare`.
    pub(crate) contestant: String,
    pub(crate) workload: String,
    measured: Vec<Measured>,
}

/// A sample, and what hyper had in the same round, first and last.
#[derive(Clone, Copy, Debug)]
struct Measured {
    sample: Sample,
    hyper: [Sample; 2],
}

/// Reads one figure of a sample.
pub(crate) type Figure = fn(&Sample) -> f64;

impl Row {
    /// The median of a figure over the rounds.
    pub(crate) fn median(&self, figure: Figure) -> f64 {
        median(self.measured.iter().map(|measured| figure(&measured.sample)))
    }

    /// The median of the ratios to hyper, each formed within its round.
    pub(crate) fn ratio(&self, figure: Figure) -> f64 {
        median(self.measured.iter().map(|Measured { sample, hyper }| {
            figure(sample) / (figure(&hyper[0]) + figure(&hyper[1])) * 2.0
        }))
    }

    /// How much of the processor time passes outside of the kernel, over all
    /// rounds, because the kernel's two clocks are coarse; `None` if they have not
    /// moved.
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

    /// How many rounds there were: hyper, which is the first row, has two turns.
    pub(crate) fn rounds(&self) -> usize {
        self.measured.len() / 2
    }

    /// Returns true if it was asked at a pace.
    pub(crate) fn is_paced(&self) -> bool {
        self.measured.iter().any(|measured| measured.sample.asked.is_some())
    }

    /// Returns how far a figure of hyper's two turns of a round is apart, as a share of the
    /// lesser: what the machine adds by itself.
    pub(crate) fn noise(&self, figure: Figure) -> f64 {
        median(
            self.measured.iter().map(|Measured { hyper: [first, last], .. }| {
                turns::apart(figure(first), figure(last))
            }),
        )
    }
}

/// The rows of all rounds, in the order of the first one of each workload.
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

/// The rows of a round in which stockade is half as quick as hyper.
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
    fn a_ratio_is_to_the_mean_of_hyper_in_its_round() {
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
