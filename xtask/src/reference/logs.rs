//! Log targets, log lines, metrics and fields of spans.

use std::collections::BTreeSet;

use super::page::{Page, codes};
use super::source::{File, Library, between, end_of_literal, literals};

/// Pairs of a target and a level.
type Pairs = BTreeSet<String>;

const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

/// Compares the table of targets and levels with the calls in the code.
pub fn targets(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let section = page.section("## Log targets")?;
    let mut listed = Pairs::new();
    for row in section.rows() {
        let target = row.cell(0).trim_matches('`').trim_end_matches("::…").to_owned();
        listed.extend(levels(row.cell(1)).map(|level| format!("{target} {level}")));
    }
    let mut logged = calls(library)?;
    if library.contains("target: \"stockade::request\"") {
        logged.insert("stockade::request info".to_owned());
    }
    Ok(section.differences("target and level", &listed, &logged))
}

/// Compares the lines with the calls: each quoted word is in the code, and each
/// call above the debug level has a row with words of its text.
pub fn lines(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let (mut listed, mut faults, mut rows) = (Pairs::new(), Vec::new(), Vec::new());
    for heading in page.headings("##") {
        let of_heading = if heading.contains("::") { heading } else { "stockade" };
        for row in page.section(&format!("## {heading}"))?.rows() {
            // Only the last table has a column for the target.
            let first = row.cell(0).trim_matches('`').trim_end_matches("::…");
            let is_other = first.starts_with("stockade");
            let (target, level) = if is_other { (first, 1) } else { (of_heading, 0) };
            let words: Vec<String> = codes(row.cell(level + 1)).map(str::to_owned).collect();
            let unknown = words.iter().filter(|word| !library.says(word));
            faults.extend(unknown.map(|word| format!("{}: no text contains `{word}`", page.name)));
            for level in levels(row.cell(level)) {
                let pair = format!("{target} {level}");
                listed.insert(pair.clone());
                rows.push((pair, words.clone()));
            }
        }
    }
    let calls: Vec<Call> = all_calls(library)?;
    // The other page describes the access log.
    let of_page = || calls.iter().filter(|call| call.target != "stockade::access");
    let logged = of_page().filter_map(Call::pair).collect();
    faults.extend(page.differences("target and level", &listed, &logged));
    for call in of_page().filter(|call| call.level != "debug" && call.has_words()) {
        // The level of some calls depends on the cause.
        let pair = call.pair().unwrap_or_else(|| format!("{} error", call.target));
        let is_quoted = |(own, words): &(String, Vec<String>)| {
            *own == pair && words.iter().any(|word| call.text.contains(word.as_str()))
        };
        if !rows.iter().any(is_quoted) {
            faults.push(format!("{}: add a row for `{pair}`: {}", page.name, call.text));
        }
    }
    Ok(faults)
}

/// Compares the signals of the runbook that are log lines with the code.
pub fn signals(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let logged = calls(library)?;
    let mut faults = Vec::new();
    for row in page.rows() {
        let of_log = |cell: &&String| cell.starts_with("`stockade") && !cell.contains("stockade_");
        let Some(signal) = row.cells.iter().find(of_log) else { continue };
        let line = signal.split(';').next().unwrap_or_default();
        let mut words = codes(line);
        let target = words.next().unwrap_or_default();
        faults.extend(
            levels(line)
                .map(|level| format!("{target} {level}"))
                .filter(|pair| !logged.contains(pair))
                .map(|pair| format!("{}: no line has the target and level `{pair}`", page.name)),
        );
        let unknown = words.filter(|word| !library.says(word));
        faults.extend(unknown.map(|word| format!("{}: no text contains `{word}`", page.name)));
    }
    Ok(faults)
}

/// Returns the levels that a cell names.
fn levels(cell: &str) -> impl Iterator<Item = &'static str> {
    let words: Vec<&str> = cell.split(|c: char| !c.is_alphabetic()).collect();
    LEVELS.into_iter().filter(move |level| words.contains(level))
}

/// A call of a macro of the crate `log`.
struct Call {
    target: String,
    /// The level, or `log` if it depends on a variable.
    level: &'static str,
    /// The format.
    text: String,
}

impl Call {
    /// Returns the target and the level, if it is fixed.
    fn pair(&self) -> Option<String> {
        (self.level != "log").then(|| format!("{} {}", self.target, self.level))
    }

    /// Returns true if the format has more than its values.
    fn has_words(&self) -> bool {
        let outside = self.text.split(['{', '}']).step_by(2);
        outside.flat_map(str::chars).any(char::is_alphabetic)
    }
}

/// Returns the targets and levels of all calls.
fn calls(library: &Library) -> Result<Pairs, String> {
    Ok(all_calls(library)?.iter().filter_map(Call::pair).collect())
}

fn all_calls(library: &Library) -> Result<Vec<Call>, String> {
    let mut found = Vec::new();
    for file in library.files() {
        for level in LEVELS.into_iter().chain(["log"]) {
            for call in file.text.split(&format!("log::{level}!(")).skip(1) {
                let (target, is_literal) = target(call, file, library)?;
                let text = literals(call).into_iter().nth(usize::from(is_literal));
                found.push(Call { target, level, text: text.unwrap_or_default() });
            }
        }
    }
    Ok(found)
}

/// Returns the target of a call, which is by default its module, and true if it
/// is a literal. A module is abbreviated to its crate.
fn target(call: &str, file: &File, library: &Library) -> Result<(String, bool), String> {
    let Some(value) = call.trim_start().strip_prefix("target:") else {
        return Ok((file.package().replace('-', "_"), false));
    };
    let value = value.trim_start();
    if let Some(literal) = value.strip_prefix('"') {
        return Ok((literal[..end_of_literal(literal).unwrap_or_default()].to_owned(), true));
    }
    let name = value.split([',', ';']).next().unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or(name);
    let start = format!("const {name}: &str = \"");
    let value_in = |file: &File| {
        let (_, value) = file.text.split_once(&start)?;
        Some(value[..end_of_literal(value)?].to_owned())
    };
    let in_crate = || library.files().iter().filter(|other| other.package() == file.package());
    let value = value_in(file).or_else(|| in_crate().find_map(value_in));
    value.map(|value| (value, false)).ok_or_else(|| {
        format!("crates/{}: the log target `{name}` is not a constant of its crate", file.name)
    })
}

/// Compares metrics, their labels, keys of the access log, and fields of spans.
pub fn metrics(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let mut faults = metric_names(page, library);

    let reasons = library.file("stockade-stages/src/metrics/reason.rs")?;
    let reasons = names(literals(between(reasons, "\nreasons! {", "\n}\n")?));
    let section = page.section("### Reasons for rejections")?;
    faults.extend(section.differences("reason", &section.first_codes(), &reasons));

    let counts = library.file("stockade-redis/src/counts.rs")?;
    let kinds = literals(between(counts, "const KINDS:", "];\n")?);
    let outcomes = literals(between(counts, "const OUTCOMES:", "];\n")?);
    for (label, existing) in
        [("kind", names(kinds.into_iter().skip(1).step_by(2))), ("outcome", names(outcomes))]
    {
        let listed = page.codes_of_line(&format!("- `{label}` is"))?;
        faults.extend(page.differences(label, &listed, &existing));
    }

    let log = library.file("stockade-stages/src/observation/access_log.rs")?;
    // The second line has the keys of the first, and two for tools.
    let (_, lines) = log.split_once("log::info!(").ok_or("access_log.rs writes no line")?;
    let keys = assigned(between(lines, "log::info!(", ";\n")?);
    let section = page.section("## Access log")?;
    faults.extend(section.differences("key of the access log", &section.first_codes(), &keys));

    let span = library.file("stockade-stages/src/spans/span.rs")?;
    let fields = assigned(between(span, "\"HTTP request\",", ");\n")?);
    let section = page.section("## Tracing spans")?;
    faults.extend(section.differences("field of a span", &section.first_codes(), &fields));
    Ok(faults)
}

/// Compares the metrics with the names in the files that write them.
fn metric_names(page: &Page, library: &Library) -> Vec<String> {
    let is_metric = |name: &str| name.starts_with("http_") || name.starts_with("stockade_");
    let writers = library.files().iter().filter(|file| {
        file.name.starts_with("stockade-stages/src/metrics/")
            || file.text.contains("MetricsSource for")
    });
    let texts = writers.flat_map(|file| literals(&file.text));
    let written = texts.filter_map(|text| {
        let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(text.len());
        let name = &text[..end];
        let suffixes = ["_bucket", "_sum", "_count"];
        let name = suffixes.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        is_metric(name).then(|| name.to_owned())
    });
    let mut listed = page.first_codes();
    // Targets of log lines also begin with the name of a crate.
    listed.retain(|name| is_metric(name) && !name.contains("::"));
    page.differences("metric", &listed, &written.collect())
}

/// Returns the names on the left of `=` at the beginning of lines.
fn assigned(text: &str) -> BTreeSet<String> {
    let pairs = text.lines().filter_map(|line| line.trim().split_once(" = "));
    pairs.map(|(name, _)| name.to_owned()).collect()
}

fn names(list: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    list.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_names_its_levels() {
        let of = |cell: &str| levels(cell).collect::<Vec<_>>();
        assert_eq!(of("error for 5xx, debug for 4xx"), ["error", "debug"]);
        assert_eq!(of("info; debug on arrival with `with_logging`"), ["info", "debug"]);
        assert_eq!(of("information, errors"), Vec::<&str>::new());
    }

    #[test]
    fn fields_are_names_before_values() {
        let text = "\n    otel.name = %Name(req),\n    error.type = Empty,\n    other(),\n";
        assert_eq!(assigned(text), names(["otel.name", "error.type"].map(str::to_owned)));
    }
}
