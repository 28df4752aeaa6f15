//! `counts.txt`: what each request may cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::{Outcome, place};

/// A server, a mode and a workload.
pub(crate) type Key = [String; 3];

/// What one request costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Instructions in user space; `None` without valgrind.
    pub(crate) instructions: Option<f64>,
    /// Calls that allocate or grow.
    pub(crate) allocations: f64,
}

/// The recorded costs.
pub(crate) fn read() -> Outcome<BTreeMap<Key, Cost>> {
    let text = fs::read_to_string(path()).map_err(|error| format!("counts.txt: {error}"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| parse(line).ok_or(format!("counts.txt: {line:?}"))).collect()
}

/// Records costs, each in its line.
pub(crate) fn write(costs: &[(Key, Cost)]) -> Outcome {
    let mut text = HEAD.to_owned();
    for ([server, mode, workload], cost) in costs {
        let instructions = cost.instructions.unwrap_or_default();
        let allocations = cost.allocations;
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "{server:<9} {mode:<9} {workload:<6} {instructions:>7.0} {allocations:>5.1}"
        );
    }
    fs::write(path(), text).map_err(|error| format!("counts.txt: {error}"))
}

fn path() -> PathBuf {
    place::folder().join("counts.txt")
}

fn parse(line: &str) -> Option<(Key, Cost)> {
    let mut words = line.split_whitespace();
    let mut word = || words.next();
    let key = [word()?.to_owned(), word()?.to_owned(), word()?.to_owned()];
    let instructions = Some(word()?.parse().ok()?);
    Some((key, Cost { instructions, allocations: word()?.parse().ok()? }))
}

/// How much more than recorded is none, because a rebuild alone moves it: 5 %.
pub(crate) const SLACK: f64 = 1.05;

const HEAD: &str = "\
# What a request costs in user space: instructions, and calls that allocate.
# `cargo xtask bench counts` fails above 1.05 times of what stands here, and
# `cargo xtask bench counts --save` writes it anew.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_cost() {
        let key = ["hyper", "bare", "json"].map(str::to_owned);
        let cost = Cost { instructions: Some(6_408.0), allocations: 4.0 };
        assert_eq!(parse("hyper  bare json 6408 4.0"), Some((key, cost)));
        assert_eq!(parse("hyper bare json 6408"), None);
    }
}
