//! `counts.txt`: the maximum costs of each request.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::{Outcome, place};

/// A server, a mode and a workload.
pub(crate) type Key = [String; 3];

/// The cost of one request. `None`, written as `-`, is a figure that is not
/// counted; at least one figure is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Instructions in user space; `None` without valgrind.
    pub(crate) instructions: Option<f64>,
    /// Calls that allocate or grow memory.
    pub(crate) allocations: Option<f64>,
}

/// Reads the recorded costs.
pub(crate) fn read() -> Outcome<BTreeMap<Key, Cost>> {
    let text = fs::read_to_string(path()).map_err(|error| format!("counts.txt: {error}"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let fault = |line| format!("counts.txt: {line:?}; a figure that is not counted is `-`, not 0");
    lines.map(|line| parse(line).ok_or_else(|| fault(line))).collect()
}

/// Records costs, one per line.
pub(crate) fn write(costs: &[(Key, Cost)]) -> Outcome {
    let lines = costs.iter().map(|(key, cost)| line(key, *cost) + "\n");
    let text = HEAD.to_owned() + &lines.collect::<String>();
    fs::write(path(), text).map_err(|error| format!("counts.txt: {error}"))
}

fn path() -> PathBuf {
    place::folder().join("counts.txt")
}

fn line([server, mode, workload]: &Key, cost: Cost) -> String {
    let instructions = written(cost.instructions, 0);
    let allocations = written(cost.allocations, 1);
    format!("{server:<9} {mode:<9} {workload:<12} {instructions:>7} {allocations:>5}")
}

/// Returns a figure with this number of decimals, or `-`.
pub(crate) fn written(figure: Option<f64>, decimals: usize) -> String {
    figure.map_or("-".to_owned(), |figure| format!("{figure:.decimals$}"))
}

fn parse(line: &str) -> Option<(Key, Cost)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [server, mode, workload, instructions, allocations] = words[..] else { return None };
    let cost = Cost { instructions: figure(instructions)?, allocations: figure(allocations)? };
    // A line without figures would be useless.
    (cost != Cost::default()).then(|| ([server, mode, workload].map(str::to_owned), cost))
}

/// Parses a figure or `-`. Returns `None` for anything else and for 0, because
/// no request is free.
fn figure(word: &str) -> Option<Option<f64>> {
    match word {
        "-" => Some(None),
        word => word.parse().ok().filter(|figure| is_count(*figure)).map(Some),
    }
}

/// Returns false if nothing was counted.
pub(crate) fn is_count(figure: f64) -> bool {
    figure.is_finite() && figure > 0.0
}

/// Compares the counted costs with the recorded costs. Returns every cost that
/// is too high or that only one of them has. Instructions may be missing if
/// `has_valgrind` is false.
pub(crate) fn faults(
    costs: &[(Key, Cost)],
    recorded: &BTreeMap<Key, Cost>,
    has_valgrind: bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, cost) in costs {
        let name = key.join(" ");
        let Some(limit) = recorded.get(key) else {
            faults.push(format!("{name}: counts.txt has no line for it"));
            continue;
        };
        let mut compare =
            |what: &str, now: Option<f64>, then: Option<f64>, needed: bool| match (now, then) {
                (Some(now), Some(then)) if now > then * SLACK => {
                    faults.push(format!("{name}: {now:.1} {what}, recorded are {then:.1}"));
                }
                (Some(_), None) => faults.push(format!("{name}: no {what} are recorded")),
                (None, Some(_)) if needed => faults.push(format!("{name}: no {what} were counted")),
                _ => {}
            };
        compare("instructions", cost.instructions, limit.instructions, has_valgrind);
        compare("allocations", cost.allocations, limit.allocations, true);
    }
    let is_counted = |key: &Key| costs.iter().any(|(counted, _)| counted == key);
    let missing = recorded
        .iter()
        .filter(|(key, limit)| !is_counted(key) && (has_valgrind || limit.allocations.is_some()));
    faults.extend(missing.map(|(key, _)| format!("{}: it was not counted", key.join(" "))));
    faults
}

/// The tolerance above the recorded cost: 5 %, because a rebuild by itself
/// changes it.
pub(crate) const SLACK: f64 = 1.05;

const HEAD: &str = "\
# What a request costs in user space: instructions, and calls that allocate.
# `cargo xtask bench counts` fails above 1.05 times of what stands here, and
# `cargo xtask bench counts --save` writes it anew. `-` is not counted.
#
# Valgrind has no instructions of the processor for SHA-256, so what checks a
# token is counted with the hash in software, as `-soft`: figures to compare with
# each other, on a processor with AVX2, and not with the other lines.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        ["hyper", "bare", name].map(str::to_owned)
    }

    fn cost(instructions: Option<f64>, allocations: Option<f64>) -> Cost {
        Cost { instructions, allocations }
    }

    #[test]
    fn a_line_is_a_cost() {
        let check = |text: &str, expected: Option<Cost>| {
            assert_eq!(parse(text), expected.map(|cost| (key("json"), cost)), "{text}");
        };
        check("hyper  bare json 6408 4.0", Some(cost(Some(6_408.0), Some(4.0))));
        check("hyper bare json - 4.0", Some(cost(None, Some(4.0))));
        check("hyper bare json 6408 -", Some(cost(Some(6_408.0), None)));
        check("hyper bare json 0 4.0", None);
        check("hyper bare json 6408 0.0", None);
        check("hyper bare json - -", None);
        check("hyper bare json -1 4.0", None);
        check("hyper bare json NaN 4.0", None);
        check("hyper bare json 6408", None);
        check("hyper bare json 6408 4.0 1", None);
    }

    #[test]
    fn written_figures_can_be_read() {
        for cost in [cost(Some(9.0), Some(4.5)), cost(None, Some(4.0)), cost(Some(9.0), None)] {
            assert_eq!(parse(&line(&key("json"), cost)), Some((key("json"), cost)));
        }
    }

    #[test]
    fn the_recorded_figures_can_be_read() {
        assert!(read().is_ok_and(|recorded| recorded.len() > 20));
    }

    #[test]
    fn reports_figures_that_are_missing_or_above_the_limit() {
        let limit = cost(Some(100.0), Some(4.0));
        let check = |now: Cost, then: Cost, has_valgrind: bool, expected: &[&str]| {
            let recorded = BTreeMap::from([(key("json"), then)]);
            let faults = faults(&[(key("json"), now)], &recorded, has_valgrind);
            assert_eq!(faults, expected, "{now:?} {then:?}");
        };
        check(limit, limit, true, &[]);
        check(cost(Some(105.0), Some(4.1)), limit, true, &[]);
        check(
            cost(Some(106.0), Some(5.0)),
            limit,
            true,
            &[
                "hyper bare json: 106.0 instructions, recorded are 100.0",
                "hyper bare json: 5.0 allocations, recorded are 4.0",
            ],
        );
        let without = cost(None, Some(4.0));
        check(without, limit, false, &[]);
        check(without, limit, true, &["hyper bare json: no instructions were counted"]);
        check(limit, without, true, &["hyper bare json: no instructions are recorded"]);
        check(without, without, true, &[]);
        let soft = cost(Some(100.0), None);
        check(soft, soft, true, &[]);
        check(soft, limit, true, &["hyper bare json: no allocations were counted"]);
    }

    #[test]
    fn counts_and_lines_correspond() {
        let limit = cost(Some(100.0), Some(4.0));
        let soft = cost(Some(100.0), None);
        let recorded = BTreeMap::from([(key("json"), limit), (key("json-soft"), soft)]);
        let now = [(key("json"), cost(None, Some(4.0)))];
        assert_eq!(faults(&now, &recorded, false), [""; 0]);
        let now = [(key("json"), limit), (key("more"), limit)];
        let expected = [
            "hyper bare more: counts.txt has no line for it",
            "hyper bare json-soft: it was not counted",
        ];
        assert_eq!(faults(&now, &recorded, true), expected);
        assert_eq!(faults(&[], &recorded, false), ["hyper bare json: it was not counted"]);
    }
}
