//! `tests/compile-cost.txt`: the repeatable figures, which may grow by 10 %.

use std::fs;

use xtask::{Outcome, root};

/// A figure that is the same in every run with the same compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The form that counts the figure, `full` or `short`.
    pub form: String,
    /// The number of modules of the program.
    pub modules: usize,
    /// `lines`, `binary` or `crates`.
    pub name: String,
    pub count: u64,
}

impl Figure {
    pub fn new(form: &str, modules: usize, name: &str, count: u64) -> Self {
        Self { form: form.to_owned(), modules, name: name.to_owned(), count }
    }

    fn is_of_run(&self, other: &Self) -> bool {
        self.form == other.form && self.modules == other.modules
    }

    /// Returns true if both figures count the same thing.
    fn is_of_kind(&self, other: &Self) -> bool {
        self.is_of_run(other) && self.name == other.name
    }

    fn key(&self) -> String {
        format!("{} {} {}", self.form, self.modules, self.name)
    }

    fn line(&self) -> String {
        format!("{:<6} {:>4} {:<7} {:>12}\n", self.form, self.modules, self.name, self.count)
    }
}

/// Records these figures, or fails if they exceed the recorded ones. `is_usual`
/// is true for the usual program size; other sizes do not need a record.
pub fn settle(counted: &[Figure], save: bool, is_usual: bool) -> Outcome {
    let recorded = read()?;
    if save {
        return write(&merged(recorded, counted));
    }
    let is_known = |figure: &Figure| recorded.iter().any(|known| known.is_of_run(figure));
    if !is_usual && !counted.iter().any(is_known) {
        println!("no record for a program of this size");
        return Ok(());
    }
    let faults = faults(counted, &recorded);
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "more than 10 % above the record in {FILE}:\n{}\nif the change is intended, run the \
         same command with --save (`cargo llvm-lines` lists the largest functions)",
        faults.join("\n")
    ))
}

/// Compares the figures of a run with the record of the same form. Returns
/// figures that are more than 10 % higher, and figures that only one of them
/// contains.
fn faults(counted: &[Figure], recorded: &[Figure]) -> Vec<String> {
    let mut faults = Vec::new();
    for now in counted {
        match recorded.iter().find(|then| then.is_of_kind(now)) {
            Some(then) if is_above(now.count, then.count) => {
                let (key, now, then) = (now.key(), now.count, then.count);
                faults.push(format!("{key}: {now}, the record is {then}"));
            }
            Some(_) => {}
            None => faults.push(format!("{}: the record does not have a line for it", now.key())),
        }
    }
    let of_these = |then: &&Figure| counted.iter().any(|now| now.is_of_run(then));
    let is_missing = |then: &&Figure| !counted.iter().any(|now| now.is_of_kind(then));
    let missing = recorded.iter().filter(of_these).filter(is_missing);
    faults.extend(missing.map(|then| format!("{}: it was not counted", then.key())));
    faults
}

/// Returns true if the figure exceeds 110 %.
fn is_above(now: u64, then: u64) -> bool {
    u128::from(now) * 10 > u128::from(then) * 11
}

/// Returns the recorded figures, with the figures of one run replaced.
fn merged(mut recorded: Vec<Figure>, counted: &[Figure]) -> Vec<Figure> {
    recorded.retain(|then| !counted.iter().any(|now| now.is_of_run(then)));
    recorded.extend_from_slice(counted);
    recorded.sort_by(|a, b| (&a.form, a.modules).cmp(&(&b.form, b.modules)));
    recorded
}

fn read() -> Result<Vec<Figure>, String> {
    let text = fs::read_to_string(root().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| parse(line).ok_or_else(|| format!("{FILE}: {line:?}"))).collect()
}

/// Parses a line; a figure of 0 would be useless.
fn parse(line: &str) -> Option<Figure> {
    let [form, modules, name, count] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let count = count.parse().ok().filter(|count| *count > 0)?;
    Some(Figure::new(form, modules.parse().ok()?, name, count))
}

fn write(figures: &[Figure]) -> Outcome {
    let lines: String = figures.iter().map(Figure::line).collect();
    fs::write(root().join(FILE), HEAD.to_owned() + &lines)
        .map_err(|error| format!("{FILE}: {error}"))
}

const FILE: &str = "tests/compile-cost.txt";

const HEAD: &str = "\
# What a generated program on stockade costs to compile, as far as it repeats: lines of LLVM IR
# of its own crate, bytes of its debug binary, crates that are compiled for it.
# `cargo xtask compile-cost` fails at 10 % above a line of `full`, and with `--short`,
# of `short`; with `--save` it writes them anew. Another version of rustc moves them by some per
# cent. The two forms count in different ways, and cannot be compared with each other
# (`xtask/compile-cost/src/short.rs`).
#
# form modules what        figure
";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Figure {
        Figure::new("short", 50, "lines", count)
    }

    #[test]
    fn written_figures_can_be_read() {
        assert_eq!(parse(lines(1_234).line().trim_end()), Some(lines(1_234)));
        for line in ["short 50 lines", "short 50 lines 0", "short x lines 1", "short 50 lines 1 1"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn the_recorded_figures_can_be_read() {
        assert!(read().is_ok_and(|recorded| recorded.iter().any(|one| one.form == "full")));
    }

    #[test]
    fn an_increase_above_ten_percent_is_a_fault() {
        #[track_caller]
        fn check(now: u64, then: u64, expected: &[&str]) {
            assert_eq!(faults(&[lines(now)], &[lines(then)]), expected);
        }
        check(1_000, 1_000, &[]);
        check(1_100, 1_000, &[]);
        check(1, 1_000, &[]);
        check(1_101, 1_000, &["short 50 lines: 1101, the record is 1000"]);
        check(u64::MAX, u64::MAX, &[]);
    }

    #[test]
    fn counts_and_lines_correspond() {
        let binary = Figure::new("short", 50, "binary", 9);
        assert_eq!(
            faults(&[lines(9)], &[]),
            ["short 50 lines: the record does not have a line for it"]
        );
        let found = faults(&[lines(9)], &[lines(9), binary]);
        assert_eq!(found, ["short 50 binary: it was not counted"]);
        // Lines of other runs do not affect this run.
        let others = [Figure::new("full", 50, "binary", 9), Figure::new("short", 300, "binary", 9)];
        assert_eq!(faults(&[lines(9)], &[&[lines(9)], &others[..]].concat()), [""; 0]);
    }

    #[test]
    fn a_run_replaces_only_its_own_lines() {
        let full = Figure::new("full", 300, "lines", 5);
        let found = merged(vec![lines(1), full.clone()], &[lines(2)]);
        assert_eq!(found, [full, lines(2)]);
    }
}
