//! Counts phrases of stilted English per 10,000 words: in comments, Markdown,
//! messages and test names.
//!
//! `cargo xtask prose` prints the table of each kind of text and compares it with
//! `tests/prose.txt`. A number fails if it is above its limit and above its record.
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
use rows::Rows;
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
    /// Phrases of a row per 10,000 words.
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

/// Prints the tables, and returns the numbers that rose above their limits.
fn run(arguments: &[String]) -> Result<Vec<String>, String> {
    let rows = Rows::new()?;
    let place = match arguments {
        [option, row] if option == "--where" => Some(rows.index(row)?),
        _ => None,
    };
    let counts = count_all(&rows, place)?;
    if place.is_some() {
        return Ok(Vec::new());
    }
    for kind in Kind::ALL {
        print_table(&rows, kind, &counts);
    }
    if arguments.iter().any(|argument| argument == "--save") {
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

/// Adds the phrases of a paragraph, and prints the phrases of the row `place`.
fn add(
    rows: &Rows,
    count: &mut Count,
    path: &Path,
    text: &str,
    place: Option<usize>,
) -> Result<(), String> {
    count.words += rows.words(text)?;
    for (row, number) in count.phrases.iter_mut().enumerate() {
        let found = rows.find(row, text)?;
        *number += found.len();
        if place == Some(row) {
            found.iter().for_each(|it| println!("{}: …{it}…", path.display()));
        }
    }
    Ok(())
}

fn print_table(rows: &Rows, kind: Kind, counts: &[Count]) {
    println!("\n{kind}, phrases per 10,000 words");
    print!("{:<36}{:>8}", "", "words");
    rows.names().for_each(|name| print!("{name:>16}"));
    println!();
    for count in counts.iter().filter(|count| count.kind == kind) {
        print!("{:<36}{:>8}", count.group, count.words);
        for row in 0..rows.len() {
            let mark = if rows.is_above(count, row) { '!' } else { ' ' };
            print!("{:>15.1}{mark}", count.rate(row));
        }
        println!();
    }
}

/// The numbers that are above their limits and above the record.
fn faults(rows: &Rows, counts: &[Count], record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    for count in counts {
        for (row, name) in rows.names().enumerate() {
            let recorded = record.phrases(count.kind, &count.group, row);
            if rows.is_above(count, row) && count.phrases[row] > recorded {
                faults.push(format!(
                    "{} of {}: {} phrases of {name:?}, recorded are {recorded}, the limit is {:.1} per \
                     10,000 words",
                    count.kind,
                    count.group,
                    count.phrases[row],
                    rows.limit(row)
                ));
            }
        }
    }
    faults
}
