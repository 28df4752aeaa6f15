//! The results: Markdown tables, and a chart.

use std::fmt::Write as _;
use std::fs;

use crate::bench::Row;
use crate::chart;
use crate::contestant::Contestant;
use crate::extras::Extras;
use crate::options::Options;
use crate::sample::Sample;
use crate::{Outcome, place};

/// Writes `results.md` and `chart.svg`, and prints where.
pub(crate) fn write(rows: &[Row], extras: &[(Contestant, Extras)], options: &Options) -> Outcome {
    let mut folders = vec![place::target()?];
    if options.save {
        folders.push(place::folder().to_owned());
    }
    let text = text(rows, extras, options);
    println!("\n{text}");
    for folder in folders {
        for (name, text) in [("results.md", &text), ("chart.svg", &chart::draw(rows))] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("written: {}", path.display());
        }
    }
    Ok(())
}

fn text(rows: &[Row], extras: &[(Contestant, Extras)], options: &Options) -> String {
    let Options { rounds, seconds, .. } = options;
    let mut text = format!(
        "Medians of {rounds} rounds of {seconds} s; in brackets the ratio to hyper by hand.\n\n"
    );
    let ratio = |row: &Row, at: usize| median(row.ratios.iter().map(|ratios| ratios[at]));
    let of = |row: &Row, value: fn(&Sample) -> f64| median(row.samples.iter().map(value));
    text += &table("CPU µs per request", rows, |row| {
        format!("{:.2} ({:.2})", of(row, |sample| sample.cpu), ratio(row, 0))
    });
    text += &table("user + system µs", rows, |row| {
        let (user, system) = (of(row, |sample| sample.user), of(row, |sample| sample.system));
        format!("{user:.1} + {system:.1}")
    });
    text += &table("requests per second", rows, |row| {
        format!("{:.1}k ({:.2})", of(row, |sample| sample.rate) / 1_000.0, ratio(row, 1))
    });
    text += &table("p50 / p99 / p99.9, µs", rows, |row| {
        let quantiles = [
            |sample: &Sample| sample.p50,
            |sample: &Sample| sample.p99,
            |sample: &Sample| sample.p999,
        ];
        quantiles.map(|quantile| format!("{:.0}", of(row, quantile))).join(" / ")
    });
    text += &table("peak memory, MiB", rows, |row| {
        format!("{:.1}", of(row, |sample| sample.peak as f64 / 1_024.0))
    });
    text += &table("server busy / load busy, %", rows, |row| {
        let busy = [|sample: &Sample| sample.busy, |sample: &Sample| sample.load_busy];
        busy.map(|busy| format!("{:.0}", of(row, busy) * 100.0)).join(" / ")
    });
    if !extras.is_empty() {
        text += &extras_table(extras);
    }
    text
}

/// A table with a line for each contestant and a column for each workload.
fn table(title: &str, rows: &[Row], cell: impl Fn(&Row) -> String) -> String {
    let mut workloads: Vec<&str> = Vec::new();
    let mut contestants: Vec<Contestant> = Vec::new();
    for row in rows {
        if !workloads.contains(&row.workload) {
            workloads.push(row.workload);
        }
        if !contestants.contains(&row.contestant) {
            contestants.push(row.contestant);
        }
    }
    let mut text = format!("| {title} | {} |\n|---|", workloads.join(" | "));
    text += &"--:|".repeat(workloads.len());
    for contestant in contestants {
        let cells = workloads.iter().map(|workload| {
            let row =
                rows.iter().find(|row| row.contestant == contestant && row.workload == *workload);
            row.map_or("–".to_owned(), &cell)
        });
        // Writing to a text does not fail.
        let _ = write!(text, "\n| {contestant} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text + "\n\n"
}

fn extras_table(extras: &[(Contestant, Extras)]) -> String {
    let mut text = "| | memory at start, MiB | idle connection, KiB | after 6 s | third wave / \
                    second | program, MiB | first answer, ms | system calls per request |\n\
                    |---|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let or_dash =
        |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    for (contestant, extra) in extras {
        let _ = writeln!(
            text,
            "| {contestant} | {:.1} | {} | {} | {} | {} | {:.1} | {} |",
            extra.start as f64 / 1_024.0,
            or_dash(extra.idle.map(|idle| idle[0])),
            or_dash(extra.idle.map(|idle| idle[1])),
            or_dash(extra.third_wave),
            or_dash(extra.size.map(|size| size as f64 / 1_024.0)),
            extra.cold,
            or_dash(extra.calls),
        );
    }
    text
}

/// The middle one; of an even number the mean of the middle two.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        length => (values[(length - 1) / 2] + values[length / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }
}
