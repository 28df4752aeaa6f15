//! The goals and the results of this run.

use std::fmt::Write as _;

use crate::extras::Extras;
use crate::journal::Journal;
use crate::row::{Figure, Row, median};

/// A goal, the result, and true if the goal is met.
struct Goal {
    what: String,
    found: String,
    is_met: bool,
}

/// Returns a table of the goals that this run can check.
pub(crate) fn table(journal: &Journal, rows: &[Row]) -> String {
    let mut goals = vec![quiet(rows)];
    goals.extend(lookups(journal));
    goals.extend(processor(rows));
    goals.extend(tails(rows));
    goals.extend(OWN.iter().filter_map(|name| calls(name, &journal.extras)));
    goals.extend(OWN.iter().flat_map(|name| memory(name, &journal.extras)));
    let mut text = "## Goals\n\n| goal | found | met |\n|---|--:|---|\n".to_owned();
    for Goal { what, found, is_met } in goals {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {what} | {found} | {} |", if is_met { "yes" } else { "**no**" });
    }
    text + "\n"
}

/// stockade in its three modes.
const OWN: [&str; 3] = ["stockade bare", "stockade defaults", "stockade full"];

impl Goal {
    /// Creates a goal from a ratio and its limit, compared with the two
    /// decimals that are shown.
    fn ratio(what: String, ratio: f64, limit: f64) -> Self {
        let is_met = (ratio * 100.0).round() <= (limit * 100.0).round();
        Self { what: format!("{what}: at most {limit:.2}"), found: format!("{ratio:.2}"), is_met }
    }
}

/// Checks that the times are meaningful: other work on the machine changes them
/// more than any contestant does.
fn quiet(rows: &[Row]) -> Goal {
    let noise = median(rows.iter().map(|row| row.noise(|sample| sample.cpu))) * 100.0;
    // With a pace, a server does not use its whole processor.
    if rows.iter().all(Row::is_paced) {
        let tails = median(rows.iter().map(|row| row.noise(|sample| sample.p99))) * 100.0;
        return Goal {
            what:
                "quiet machine: hyper's two runs in a round differ by at most 10 %, their p99 by \
                   at most 25 %"
                    .to_owned(),
            found: format!("{noise:.0} %, {tails:.0} %"),
            is_met: noise <= 10.0 && tails <= 25.0,
        };
    }
    let saturated = rows.iter().filter(|row| !row.is_paced());
    let busy = median(saturated.map(|row| row.median(|sample| sample.busy))) * 100.0;
    Goal {
        what:
            "quiet machine: servers get 90 % of their processor, and hyper's two runs in a round \
               differ by at most 10 %"
                .to_owned(),
        found: format!("{busy:.0} %, {noise:.0} %"),
        is_met: busy >= 90.0 && noise <= 10.0,
    }
}

/// Returns the goals for route lookups.
fn lookups(journal: &Journal) -> Vec<Goal> {
    let runs = &journal.lookups;
    if runs.is_empty() {
        return Vec::new();
    }
    let each = |pick: fn(&crate::matching::Lookups) -> f64| median(runs.iter().map(pick));
    let matchit = each(|run| run.matchit);
    let beside = |what: &str, own: f64, ratio: f64| Goal {
        found: format!("{ratio:.2} ({own:.1} ns, {matchit:.1} ns)"),
        ..Goal::ratio(format!("lookup of 514 routes, {what} / matchit without"), ratio, 1.0)
    };
    vec![
        beside("with method", each(|run| run.own), each(|run| run.own / run.matchit)),
        beside("HEAD to GET", each(|run| run.head), each(|run| run.head / run.matchit)),
        Goal::ratio(
            "lookup of the same paths among 10,000 routes / 514 routes".to_owned(),
            each(|run| run.among_many / run.own),
            1.1,
        ),
    ]
}

/// Processor time per request: the contestant, its competitor, the workload,
/// and the maximum ratio.
const PROCESSOR: [(&str, &str, &str, f64); 13] = [
    ("stockade bare", "hyper bare", "json", 1.03),
    ("stockade bare", "hyper bare", "param", 1.03),
    ("stockade bare", "hyper bare", "deep", 1.03),
    ("stockade bare", "hyper bare", "post", 0.9),
    ("stockade bare", "hyper bare", "bad", 0.9),
    ("stockade defaults", "stockade bare", "json", 1.1),
    ("stockade full", "hyper full", "full", 1.0),
    ("stockade full", "hyper full", "secure", 1.0),
    ("stockade full", "hyper full", "refused", 1.0),
    ("stockade full", "axum full", "secure", 0.48),
    ("stockade full", "poem full", "secure", 0.6),
    ("stockade full", "actix full", "secure", 0.62),
    ("stockade full", "salvo full", "secure", 0.41),
];

fn processor(rows: &[Row]) -> Vec<Goal> {
    let goal = |&(own, other, workload, limit): &(&str, &str, &str, f64)| {
        let cpu: Figure = |sample| sample.cpu;
        let ratio = find(rows, own, workload)?.ratio(cpu) / find(rows, other, workload)?.ratio(cpu);
        Some(Goal::ratio(format!("CPU of {workload}, {own} / {other}"), ratio, limit))
    };
    PROCESSOR.iter().filter_map(goal).collect()
}

fn find<'r>(rows: &'r [Row], contestant: &str, workload: &str) -> Option<&'r Row> {
    rows.iter().find(|row| row.contestant == contestant && row.workload == workload)
}

/// Compares the slow requests with hyper's at the same pace. The waiting time
/// at a saturated server would depend on the number of waiting requests.
fn tails(rows: &[Row]) -> Vec<Goal> {
    let own = rows.iter().filter(|row| row.is_paced() && OWN.contains(&row.contestant.as_str()));
    let goal = |row: &Row| {
        let what = format!("p99 at a rate that keeps hyper 80 % busy, {} / hyper", row.contestant);
        Goal::ratio(what, row.ratio(|sample| sample.p99), 1.1)
    };
    own.map(goal).collect()
}

/// Checks the system calls; hyper needs about two. The hundredths depend on the
/// number of connections that are ready at the same time.
fn calls(name: &str, extras: &[(String, Extras)]) -> Option<Goal> {
    let (own, hyper) = (of(name, extras)?.calls?, of(hyper_of(name), extras)?.calls?);
    Some(Goal {
        what: format!("system calls per request, {name}: at most hyper's plus 0.02"),
        found: format!("{own:.2} ({hyper:.2})"),
        is_met: own <= hyper + 0.02,
    })
}

fn memory(name: &str, extras: &[(String, Extras)]) -> Vec<Goal> {
    let Some(extras) = of(name, extras) else { return Vec::new() };
    let start = extras.start as f64 / 1_024.0;
    let mut goals = vec![Goal {
        what: format!("memory at start, {name}: at most 4 MiB"),
        found: format!("{start:.1} MiB"),
        is_met: start <= 4.0,
    }];
    if let Some([_, later]) = extras.idle {
        goals.push(Goal {
            what: format!("idle connection of 10,000 after 6 s, {name}: at most 8 KiB"),
            found: format!("{later:.1} KiB"),
            is_met: later <= 8.0,
        });
    }
    goals.extend(extras.third_wave.map(|ratio| {
        Goal::ratio(
            format!("memory in the third wave of 10,000 / second wave, {name}"),
            ratio,
            1.05,
        )
    }));
    goals
}

/// Returns the hyper mode to compare with.
pub(crate) fn hyper_of(name: &str) -> &'static str {
    if name.ends_with(" full") { "hyper full" } else { "hyper bare" }
}

/// Returns the results of a contestant.
pub(crate) fn of<'e>(name: &str, extras: &'e [(String, Extras)]) -> Option<&'e Extras> {
    extras.iter().find(|(own, _)| own == name).map(|(_, extras)| extras)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::example;

    #[test]
    fn only_paced_requests_have_a_latency_goal() {
        let saturated = example("json", None);
        assert!(tails(&saturated).is_empty());
        assert_eq!(quiet(&saturated).found, "80 %, 0 %");
        let paced = example("p99", Some(90_000.0));
        let [goal] = &tails(&paced)[..] else { panic!("one goal") };
        assert_eq!((goal.found.as_str(), goal.is_met), ("2.00", false));
        // With a pace, the processor load does not indicate other work on the
        // machine.
        assert_eq!(quiet(&paced).found, "0 %, 0 %");
        assert_eq!(quiet(&[saturated, paced].concat()).found, "80 %, 0 %");
    }

    #[test]
    fn a_ratio_equal_to_its_limit_meets_it() {
        assert!(Goal::ratio(String::new(), 1.1, 1.1).is_met);
        assert!(Goal::ratio(String::new(), 1.104, 1.1).is_met);
        assert!(!Goal::ratio(String::new(), 1.106, 1.1).is_met);
        assert!(!Goal::ratio(String::new(), f64::NAN, 1.1).is_met);
    }
}
