//! [`Options`]: the command line options.

use bench_runner::Outcome;
use bench_scenarios::Scenario;

/// The scenarios, and the length of their measurements.
pub(crate) struct Options {
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) rounds: usize,
    /// The length of each measurement, in seconds.
    pub(crate) seconds: f64,
    /// True if the table is written to the folder of the benchmark.
    pub(crate) save: bool,
}

const USAGE: &str = "\
usage: cargo xtask bench scenarios [--scenarios a,b] [--rounds n] [--seconds s] [--save]";

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options =
            Self { scenarios: Scenario::ALL.to_vec(), rounds: 5, seconds: 0.5, save: false };
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} needs a value\n{USAGE}"));
            match name.as_str() {
                "--save" => options.save = true,
                "--scenarios" => {
                    let named = value()?.split(',').map(Scenario::named).collect::<Outcome<_>>();
                    options.scenarios = named?;
                }
                "--rounds" => options.rounds = number(&name, &value()?)? as usize,
                "--seconds" => options.seconds = number(&name, &value()?)?,
                _ => return Err(format!("what is {name}?\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(name: &str, text: &str) -> Outcome<f64> {
    let number = text.parse().ok().filter(|number: &f64| (0.05..=100.0).contains(number));
    number.ok_or(format!("{name} needs a number from 0.05 to 100, not {text:?}"))
}
