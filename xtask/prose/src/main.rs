//! Counts phrases of stilted English per 10,000 words: in comments, Markdown,
//! messages and test names.
//!
//! `cargo xtask prose` prints the table of each kind of text and compares it with
//! `tests/prose.txt`. A number fails if it is above its limit. Messages and test
//! names fail only if it is also above its record.
//! `--save` writes the record. `--where ROW` prints each phrase of a row.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod files;
mod record;
mod rows;
mod text;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use files::Group;
use record::Record;
use rows::{Rows, surroundings};
use text::Kind;

/// The phrases of one kind of text in one group of files.
pub(crate) struct Count {
    pub(crate) kind: Kind,
    pub(crate) group: String,
    pub(crate) words: usize,
    /// One number for each row.
    pub(crate) phrases: Vec<usize>,
}

impl Count {
    /// Returns the phrases of a row per 10,000 words.
    #[expect(clippy::cast_precision_loss, reason = "the counts are small")]
    pub(crate) fn rate(&self, row: usize) -> f64 {
        self.phrases[row] as f64 * 10_000.0 / self.words.max(1) as f64
    }
}

fn main() -> ExitCode {
    // The first argument is the name of the task.
    let arguments: Vec<String> = env::args().skip(2).collect();
    match run(&arguments) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            eprintln!("{}\nrewrite the sentences; `--where ROW` prints them", faults.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the tables and returns the numbers that rose above their limits.
fn run(arguments: &[String]) -> Result<Vec<String>, String> {
    let rows = Rows::new()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_saved = match arguments.as_slice() {
        [] => false,
        ["--save"] => true,
        ["--where", row] => {
            let place = rows.index(row)?;
            return count_all(&rows, Some(place)).map(|_| Vec::new());
        }
        _ => return Err("usage: cargo xtask prose [--save | --where ROW]".to_owned()),
    };
    let counts = count_all(&rows, None)?;
    for kind in Kind::ALL {
        print_table(&rows, kind, &counts);
    }
    if is_saved {
        record::save(&rows, &counts)?;
        return Ok(Vec::new());
    }
    Ok(faults(&rows, &counts, &Record::read(&rows)?))
}

fn count_all(rows: &Rows, place: Option<usize>) -> Result<Vec<Count>, String> {
    let mut counts = Vec::new();
    for Group { name, files } in files::groups(Path::new("."))? {
        let mut kinds = Kind::ALL.map(|kind| Count {
            kind,
            group: name.clone(),
            words: 0,
            phrases: vec![0; rows.len()],
        });
        for path in files {
            for (kind, paragraphs) in text::paragraphs(&path)? {
                let Some(count) = kinds.iter_mut().find(|it| it.kind == kind) else { continue };
                for paragraph in paragraphs {
                    add(rows, count, &path, &rows.plain(&paragraph), place)?;
                }
            }
        }
        counts.extend(kinds.into_iter().filter(|count| count.words > 0));
    }
    Ok(counts)
}

/// Counts the phrases of a paragraph, and prints the phrases of the row `place`.
fn add(
    rows: &Rows,
    count: &mut Count,
    path: &Path,
    text: &str,
    place: Option<usize>,
) -> Result<(), String> {
    count.words += rows.words(text)?;
    for (index, row) in rows.iter().enumerate() {
        let found = row.find(text)?;
        count.phrases[index] += found.len();
        if place == Some(index) {
            let shown = |phrase| println!("{}: …{}…", path.display(), surroundings(text, phrase));
            found.into_iter().for_each(shown);
        }
    }
    Ok(())
}

fn print_table(rows: &Rows, kind: Kind, counts: &[Count]) {
    println!("\n{kind}, phrases per 10,000 words");
    print!("{:<36}{:>8}", "", "words");
    rows.iter().for_each(|row| print!("{:>16}", row.name));
    println!();
    for count in counts.iter().filter(|count| count.kind == kind) {
        print!("{:<36}{:>8}", count.group, count.words);
        for (index, row) in rows.iter().enumerate() {
            let rate = count.rate(index);
            let mark = if row.is_above(count.phrases[index], rate) { '!' } else { ' ' };
            print!("{rate:>15.1}{mark}");
        }
        println!();
    }
}

/// Returns the numbers that are above their limits. Messages and test names have
/// few words, so their numbers may also be as high as the record.
fn faults(rows: &Rows, counts: &[Count], record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    for count in counts {
        for (index, row) in rows.iter().enumerate() {
            let phrases = count.phrases[index];
            let recorded = match count.kind {
                Kind::Comments | Kind::Markdown => 0,
                Kind::Messages | Kind::TestNames => record.phrases(count.kind, &count.group, index),
            };
            if phrases > recorded && row.is_above(phrases, count.rate(index)) {
                faults.push(format!(
                    "{} of {}: {phrases} phrases of {:?}; the limit is {:.1} per 10,000 words, \
                     and the record {recorded} phrases",
                    count.kind, count.group, row.name, row.limit
                ));
            }
        }
    }
    faults
}
