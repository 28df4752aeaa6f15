//! Checks that `book/src/migration/axum-examples.md` lists every program with its line
//! count.
//!
//! The line counts of axum's programs are from one commit of its repository.
//! Set `AXUM` to a checkout to verify them:
//!
//! ```text
//! AXUM=../../../axum cargo test --test list
//! ```
//!
//! `SAVE=1 cargo test --test list` sorts the rows and updates the line counts
//! and sums.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests; clippy.toml knows only functions with `#[test]`"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table.
struct Row {
    example: String,
    axum_lines: usize,
    /// `None` without a program.
    our_lines: Option<usize>,
    how: String,
    remark: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { example, axum_lines, our_lines, how, remark } = self;
        let ours = our_lines.map_or("–".to_owned(), |lines| lines.to_string());
        write!(f, "| `{example}` | {axum_lines} | {ours} | {how} | {remark} |")
    }
}

/// Returns the path of the list, which is a page of the documentation.
fn path_of_list() -> PathBuf {
    root().join("../../book/src/migration/axum-examples.md")
}

fn list() -> String {
    fs::read_to_string(path_of_list()).unwrap()
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for line in list().lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [example, axum_lines, our_lines, how, remark] = cells[..] else {
            panic!("a row of the list has five cells: {line}");
        };
        rows.push(Row {
            example: example.trim_matches('`').to_owned(),
            axum_lines: axum_lines.parse().unwrap(),
            our_lines: (our_lines != "–").then(|| our_lines.parse().unwrap()),
            how: how.to_owned(),
            remark: remark.to_owned(),
        });
    }
    rows
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Counts the lines of code, without blank lines, comment lines, and the test
/// module at the end.
fn lines_of(source: &str) -> usize {
    let mut count = 0;
    let mut lines = source.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            match lines.next() {
                Some("mod tests {") => return count,
                Some("mod tests;") => continue,
                other => panic!("no module of tests: {other:?}"),
            }
        }
        if !line.is_empty() && !line.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// Counts the lines in a folder and its subfolders, without `tests.rs`.
fn lines_in(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += lines_in(&path);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            count += lines_of(&fs::read_to_string(&path).unwrap());
        }
    }
    count
}

/// The programs in `examples`, which use its package.
const PROMOTED: [(&str, &str); 4] = [
    ("jwt", "../jwt.rs"),
    ("multipart-form", "../multipart_form.rs"),
    ("oauth", "../oauth/main.rs"),
    ("static-file-server", "../static_file_server/main.rs"),
];

/// Returns the programs by name.
fn programs() -> BTreeMap<String, PathBuf> {
    let files = fs::read_dir(root().join("src/bin")).unwrap().map(|entry| entry.unwrap().path());
    let sources = files.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let named = |path: PathBuf| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path);
    let promoted = PROMOTED.map(|(name, path)| (name.to_owned(), root().join(path)));
    sources.map(named).chain(promoted).collect()
}

#[test]
fn each_program_has_a_row() {
    let mut programs = programs();
    for row in rows() {
        programs.remove(&row.example);
    }
    assert!(programs.is_empty(), "not in the list: {:?}", programs.keys());
}

#[test]
fn each_row_explains_its_approach() {
    for Row { example, our_lines, how, remark, .. } in &rows() {
        match how.as_str() {
            "directly" => assert!(our_lines.is_some(), "{example}: no program"),
            "work-around" => assert!(our_lines.is_some() && !remark.is_empty(), "{example}: why?"),
            "not" => assert!(our_lines.is_none() && !remark.is_empty(), "{example}: why?"),
            other => panic!("{example}: {other}"),
        }
    }
}

#[test]
fn the_list_is_up_to_date() {
    let mut rows = rows();
    rows.sort_by(|a, b| a.example.cmp(&b.example));
    let programs = programs();
    let axum = std::env::var_os("AXUM").map(|folder| PathBuf::from(folder).join("examples"));
    for row in &mut rows {
        if let Some(axum) = &axum {
            row.axum_lines = lines_in(&axum.join(&row.example).join("src"));
        }
        let source = programs.get(&row.example).map(|path| fs::read_to_string(path).unwrap());
        row.our_lines = source.map(|source| lines_of(&source));
    }
    let (path, old) = (path_of_list(), list());
    let (head, rest) = old.split_once(SUMS).unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let (legend, _) = rest.split_once("\n| `").unwrap();
    let table = rows.iter().map(Row::to_string).collect::<Vec<_>>().join("\n");
    let new = format!("{head}{SUMS}{}\n{legend}\n{table}\n", sums(&rows));
    if std::env::var_os("SAVE").is_some() {
        fs::write(path, new).unwrap();
    } else {
        assert!(old == new, "SAVE=1 cargo test --test list");
    }
}

/// The beginning of the line with the sums.
const SUMS: &str = "Examples with a stockade program: ";

fn sums(rows: &[Row]) -> String {
    let of = |how: &str| rows.iter().filter(|row| row.how == how).count();
    let written = rows.iter().filter_map(|row| Some((row.axum_lines, row.our_lines?)));
    let (theirs, ours) = written.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    format!(
        "{} directly, {} with a work-around; {} have none. The {} programs have {theirs} lines \
         with axum and {ours} with stockade.",
        of("directly"),
        of("work-around"),
        of("not"),
        of("directly") + of("work-around"),
    )
}

#[test]
fn counts_only_code() {
    let source = "//! Text.\n\nuse a; // why\n\n    // Text.\n    b();\n/// Text.\nfn c() {}\n";
    assert_eq!(lines_of(source), 3);
    assert_eq!(lines_of("a();\n\n#[cfg(test)]\nmod tests {\n    b();\n}\n"), 1);
    assert_eq!(lines_of("a();\n#[cfg(test)]\nmod tests;\nb();\n"), 2);
}
