//! The results: Markdown tables, and a chart.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::chart;
use crate::extras::Extras;
use crate::goals::{self, hyper_of, of};
use crate::journal::Journal;
use crate::matching::Lookups;
use crate::options::Options;
use crate::pace::BUSY;
use crate::row::{self, Row, median};
use crate::sample::Sample;
use crate::{Outcome, place};

/// Writes the results so far to `results.md` and two charts in the target
/// directory.
pub(crate) fn write(journal: &Journal, options: &Options) -> Outcome {
    write_to(&place::target()?, journal, options)
}

/// Prints the results. With `--save`, it copies them to the folder of the
/// benchmark, and the first table to the benchmark's README.
pub(crate) fn publish(journal: &Journal, options: &Options) -> Outcome {
    let rows = row::rows(&journal.rounds);
    println!("\n{}", text(journal, &rows, options));
    println!("written: {}", place::target()?.join("results.md").display());
    if !options.save {
        return Ok(());
    }
    write_to(place::folder(), journal, options)?;
    show(&place::folder().join("README.md"), &(summary(&rows, options) + LINKS))
}

/// Writes the results into a README.
fn show(readme: &Path, text: &str) -> Outcome {
    let failed = |error| format!("{}: {error}", readme.display());
    let old = fs::read_to_string(readme).map_err(failed)?;
    let new = fill(&old, text).ok_or("README.md has no place for a table")?;
    fs::write(readme, new).map_err(failed)
}

fn write_to(folder: &Path, journal: &Journal, options: &Options) -> Outcome {
    let rows = row::rows(&journal.rounds);
    let text = text(journal, &rows, options);
    let [saturated, _] = parted(&rows);
    let about = format!("{}, {}", place::date()?, place::machine());
    let few = saturated.iter().filter(|row| is_in_small_chart(row));
    let files = [
        ("results.md", text),
        ("chart.svg", chart::draw(&saturated, &about)),
        ("chart-small.svg", chart::draw(few, &about)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns true if the small chart of the README shows a row: one simple and
/// one complete workload, and frameworks in Rust.
fn is_in_small_chart(row: &Row) -> bool {
    let is_rust = !row.contestant.starts_with("fastify") && !row.contestant.starts_with("express");
    ["json", "secure"].contains(&row.workload.as_str()) && is_rust
}

/// Replaces the text between the two markers.
fn fill(readme: &str, text: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}{END}{after}"))
}

/// Links to the other results in the same folder.
const LINKS: &str = "All figures are in [results.md](results.md).\n\n\
    ![CPU time per request as a ratio to hyper](chart.svg)\n";

const BEGIN: &str = "<!-- results -->";
const END: &str = "<!-- end of results -->";

/// Returns the text for the README: the machine and the processor time.
fn summary(rows: &[Row], options: &Options) -> String {
    let [rows, _] = parted(rows);
    if rows.is_empty() {
        return String::new();
    }
    let about = about(&rows, options);
    about + &table("CPU µs per request", &rows, |row| with_ratio(row, |sample| sample.cpu, 2))
}

/// Separates the rows of workloads without a pace from the rows with a pace.
fn parted(rows: &[Row]) -> [Vec<Row>; 2] {
    let (paced, saturated) = rows.iter().cloned().partition(Row::is_paced);
    [saturated, paced]
}

fn text(journal: &Journal, rows: &[Row], options: &Options) -> String {
    let mut text = String::from("# Results\n\n");
    text += &summary(rows, options);
    text += &goals::table(journal, rows);
    let [saturated, paced] = parted(rows);
    if !saturated.is_empty() {
        text += &requests(&saturated);
    }
    if !paced.is_empty() {
        text += &paced_table(&paced, options);
    }
    if !journal.extras.is_empty() {
        text += &extras_table(&journal.extras);
    }
    if !journal.lookups.is_empty() {
        text += &lookups_table(&journal.lookups);
    }
    text
}

fn requests(rows: &[Row]) -> String {
    let mut text = String::from("## Requests\n\n");
    text += &table("user + system µs", rows, |row| {
        let cpu = row.median(|sample| sample.cpu);
        let parts = |share| format!("{:.1} + {:.1}", cpu * share, cpu * (1.0 - share));
        row.user_share().map_or("–".to_owned(), parts)
    });
    text += &table("requests per second, thousands", rows, |row| {
        let rate: fn(&Sample) -> f64 = |sample| sample.rate;
        format!("{:.1} ({:.2})", row.median(rate) / 1_000.0, row.ratio(rate))
    });
    text += &table("p50, µs", rows, |row| with_ratio(row, |sample| sample.p50, 0));
    text += &table("p99, µs", rows, |row| with_ratio(row, |sample| sample.p99, 0));
    text += &table("p99.9, µs", rows, |row| with_ratio(row, |sample| sample.p999, 0));
    text += &table("peak memory, MiB", rows, |row| {
        with_ratio(row, |sample| sample.peak as f64 / 1_024.0, 1)
    });
    text += &table("server busy / load busy, %", rows, |row| {
        let busy = row.median(|sample| sample.busy) * 100.0;
        format!("{busy:.0} / {:.0}", row.median(|sample| sample.load_busy) * 100.0)
    });
    text
}

/// Returns the table of the paced workload, with a line for each contestant.
fn paced_table(rows: &[Row], options: &Options) -> String {
    let noise = median(rows.iter().map(|row| row.noise(|sample| sample.p99))) * 100.0;
    let mut text = format!(
        "## Latency at a constant rate\n\nMedians of {} rounds of {} s on {}.\nIn each round, all \
         servers get the same number of requests per second at fixed times, which keeps hyper busy \
         for about {:.0} % of the time.\nLatency is measured from the time when a request is due. \
         The p99 is the median of slices of 50 ms, because the machine may pause in some of them. \
         The p99 of hyper's two runs in a round differs by {noise:.0} %.\n\n\
         | json at a constant rate | requests per second, thousands | server busy, % | CPU µs per request \
         | p50, µs | p99 of 50 ms, µs | p99.9, µs | p99 of the delay to send, µs | no response at \
         the end, ‰ |\n|---|{}\n",
        rows.first().map_or(0, Row::rounds),
        options.seconds(true),
        place::machine(),
        BUSY * 100.0,
        "--:|".repeat(8),
    );
    for row in rows {
        let cells = [
            format!("{:.1}", row.median(|sample| sample.asked.unwrap_or_default()) / 1_000.0),
            format!("{:.0}", row.median(|sample| sample.busy) * 100.0),
            with_ratio(row, |sample| sample.cpu, 2),
            with_ratio(row, |sample| sample.p50, 0),
            with_ratio(row, |sample| sample.p99, 0),
            with_ratio(row, |sample| sample.p999, 0),
            format!("{:.0}", row.median(|sample| sample.lag)),
            format!("{:.2}", row.median(|sample| sample.unanswered)),
        ];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", row.contestant, cells.join(" | "));
    }
    text + "\n"
}

fn about(rows: &[Row], options: &Options) -> String {
    let rounds = rows.first().map_or(0, Row::rounds);
    let noise = median(rows.iter().map(|row| row.noise(|sample| sample.cpu))) * 100.0;
    let busy = median(rows.iter().map(|row| row.median(|sample| sample.busy))) * 100.0;
    format!(
        "{}: medians of {rounds} rounds of {} s on {}. The ratio to hand-written hyper is in \
         parentheses and is computed within each round.\nThe two runs of hyper in a round differ \
         by {noise:.0} %. The servers had {busy:.0} % of their processor.\n\n",
        place::date().unwrap_or_default(),
        options.seconds(false),
        place::machine(),
    )
}

/// Formats a figure with its ratio to hyper.
fn with_ratio(row: &Row, figure: fn(&Sample) -> f64, digits: usize) -> String {
    format!("{:.digits$} ({:.2})", row.median(figure), row.ratio(figure))
}

/// Returns a table with a line for each contestant and a column for each
/// workload.
fn table(title: &str, rows: &[Row], cell: impl Fn(&Row) -> String) -> String {
    let mut workloads: Vec<&str> = Vec::new();
    let mut contestants: Vec<&str> = Vec::new();
    for row in rows {
        if !workloads.contains(&row.workload.as_str()) {
            workloads.push(&row.workload);
        }
        if !contestants.contains(&row.contestant.as_str()) {
            contestants.push(&row.contestant);
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
        // Writing to a string cannot fail.
        let _ = write!(text, "\n| {contestant} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text + "\n\n"
}

fn extras_table(extras: &[(String, Extras)]) -> String {
    let mut text = "## Memory, start, system calls\n\n\
                    | | memory at start, MiB | idle connection, KiB | after 6 s | third wave / \
                    second | program, MiB | first response, ms | system calls per request |\n\
                    |---|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for (name, own) in extras {
        let hyper = of(hyper_of(name), extras);
        let cell = |figure: fn(&Extras) -> Option<f64>| match figure(own) {
            Some(value) => match hyper.and_then(figure) {
                Some(base) => format!("{value:.2} ({:.2})", value / base),
                None => format!("{value:.2}"),
            },
            None => "–".to_owned(),
        };
        let cells = [
            cell(|own| Some(own.start as f64 / 1_024.0)),
            cell(|own| own.idle.map(|idle| idle[0])),
            cell(|own| own.idle.map(|idle| idle[1])),
            own.third_wave.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
            cell(|own| own.size.map(|size| size as f64 / 1_024.0)),
            cell(|own| Some(own.cold)),
            cell(|own| own.calls),
        ];
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text + "\n"
}

fn lookups_table(runs: &[Lookups]) -> String {
    let each = |pick: fn(&Lookups) -> f64| median(runs.iter().map(pick));
    let lines = [
        ("514 routes, with method", each(|run| run.own)),
        ("514 routes, HEAD to GET", each(|run| run.head)),
        ("514 routes, matchit, no method", each(|run| run.matchit)),
        ("514 routes, wayfind, no method", each(|run| run.wayfind)),
        ("the same paths among 10,000 routes", each(|run| run.among_many)),
        ("10,000 routes, each once", each(|run| run.all)),
        ("10,000 routes, each once, matchit", each(|run| run.all_matchit)),
    ];
    let mut text = "## Lookup of a route\n\n| | ns |\n|---|--:|\n".to_owned();
    for (name, time) in lines {
        let _ = writeln!(text, "| {name} | {time:.1} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paced_workload_has_a_separate_table() -> Outcome {
        let options = Options::parse(&[])?;
        let paced = row::example("p99", Some(90_000.0));
        assert_eq!(summary(&paced, &options), "");
        let table = paced_table(&paced, &options);
        let line = "| stockade bare | 90.0 | 80 | 8.00 (1.00) | 50 (1.00) | 200 (2.00) |";
        assert!(table.contains(line), "{table}");
        let both = [row::example("json", None), paced].concat();
        assert!(!summary(&both, &options).contains("p99"));
        Ok(())
    }

    #[test]
    fn replaces_text_between_markers() {
        let readme = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let expected = format!("a\n{BEGIN}\nnew\n{END}\nb\n");
        assert_eq!(fill(&readme, "new\n"), Some(expected));
        assert_eq!(fill("a", "new"), None);
    }
}
