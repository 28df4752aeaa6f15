//! The table: the cost of each program, the ratio and its goal.

use crate::measure::Cost;

/// The figures of one program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// `cargo check` after a touch.
    pub check: Cost,
    /// A debug build after an edit of one handler.
    pub rebuild: Cost,
    /// The debug binary, in bytes.
    pub binary: u64,
    /// The first debug build, with all dependencies.
    pub first: Cost,
    /// The first optimized build, with all dependencies.
    pub release: Cost,
    /// An optimized build of the program after an edit, without its
    /// dependencies.
    pub release_alone: Cost,
    /// The number of LLVM IR lines of the program's own crate in a debug build.
    pub lines: u64,
    /// The number of compiled crates, including the program.
    pub crates: u64,
}

/// A row: the name, the figure, and the maximum ratio to axum if there is a
/// goal.
struct Row {
    name: &'static str,
    figure: fn(&Figures) -> f64,
    decimals: usize,
    goal: Option<f64>,
}

const ROWS: [Row; 12] = [
    row("`cargo check` after a touch, CPU s", |f| processor(f.check), 2, Some(1.0)),
    row("`cargo check` after a touch, s", |f| time(f.check), 2, None),
    row("debug rebuild after an edit, CPU s", |f| processor(f.rebuild), 2, Some(1.15)),
    row("debug rebuild after an edit, s", |f| time(f.rebuild), 2, Some(1.15)),
    row("debug binary, MB", |f| f.binary as f64 / 1e6, 1, Some(1.15)),
    row("first debug build with dependencies, CPU s", |f| processor(f.first), 1, Some(1.4)),
    row("first debug build with dependencies, s", |f| time(f.first), 1, None),
    row("release build of the program, CPU s", |f| processor(f.release_alone), 1, Some(1.2)),
    row("release build with dependencies, CPU s", |f| processor(f.release), 1, None),
    row("release build with dependencies, s", |f| time(f.release), 1, None),
    row("lines of LLVM IR of the program", |f| f.lines as f64, 0, None),
    row("crates compiled", |f| f.crates as f64, 0, None),
];

const fn row(
    name: &'static str,
    figure: fn(&Figures) -> f64,
    decimals: usize,
    goal: Option<f64>,
) -> Row {
    Row { name, figure, decimals, goal }
}

fn processor(cost: Cost) -> f64 {
    cost.processor.as_secs_f64()
}

fn time(cost: Cost) -> f64 {
    cost.time.as_secs_f64()
}

/// Returns the table for both programs.
pub fn table(stockade: &Figures, axum: &Figures) -> String {
    let mut table =
        "| | stockade | axum | ratio | goal | |\n|---|--:|--:|--:|--:|---|\n".to_owned();
    for Row { name, figure, decimals, goal } in ROWS {
        let (own, other) = (figure(stockade), figure(axum));
        let ratio = own / other;
        let validated = goal.map_or("|".to_owned(), |goal| validated(ratio, goal));
        table += &format!(
            "| {name} | {own:.decimals$} | {other:.decimals$} | {ratio:.2} | {validated} |\n"
        );
    }
    table
}

/// Returns the last two cells of a row with a goal. The comparison uses the
/// ratio as it is printed.
fn validated(ratio: f64, goal: f64) -> String {
    let holds = (ratio * 100.0).round() <= (goal * 100.0).round();
    format!("{goal:.2} | {}", if holds { "met" } else { "missed" })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_ratio_at_its_goal_meets_it() {
        assert_eq!(validated(1.154, 1.15), "1.15 | met");
        assert_eq!(validated(1.156, 1.15), "1.15 | missed");
        assert_eq!(validated(f64::NAN, 1.0), "1.00 | missed");
        assert_eq!(validated(f64::INFINITY, 1.0), "1.00 | missed");
    }

    #[test]
    fn a_row_has_both_figures_their_ratio_and_the_goal() {
        let cost = |seconds| Cost {
            processor: Duration::from_secs(seconds),
            time: Duration::from_secs(1),
        };
        let own =
            Figures { binary: 304_000_000, first: cost(120), crates: 125, ..Figures::default() };
        let axum = Figures { binary: 116_000_000, first: cost(100), crates: 100, ..own };
        let table = table(&own, &axum);
        for line in [
            "| debug binary, MB | 304.0 | 116.0 | 2.62 | 1.15 | missed |",
            "| first debug build with dependencies, CPU s | 120.0 | 100.0 | 1.20 | 1.40 | met |",
            "| crates compiled | 125 | 100 | 1.25 | | |",
        ] {
            assert!(table.lines().any(|own| own == line), "{line}\n{table}");
        }
    }
}
