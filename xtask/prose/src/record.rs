//! `tests/prose.txt`: the record of the counted phrases.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;

use crate::Count;
use crate::rows::Rows;
use crate::text::Kind;

const PATH: &str = "tests/prose.txt";

/// The recorded phrases of each kind and group.
pub(crate) struct Record(HashMap<String, Vec<usize>>);

impl Record {
    pub(crate) fn read(rows: &Rows) -> Result<Self, String> {
        let text = fs::read_to_string(PATH).map_err(|error| format!("{PATH}: {error}"))?;
        let mut lines = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, numbers) =
                line.split_once('|').ok_or_else(|| format!("{PATH}: {line:?}"))?;
            let numbers = numbers.split_whitespace().map(str::parse);
            let numbers: Vec<usize> = numbers
                .collect::<Result<_, _>>()
                .map_err(|error| format!("{PATH}: {line:?}: {error}"))?;
            if numbers.len() != rows.len() {
                return Err(format!("{PATH}: {line:?} does not have {} numbers", rows.len()));
            }
            lines.insert(name.trim().to_owned(), numbers);
        }
        Ok(Self(lines))
    }

    /// Returns the recorded phrases of a row: 0 for a new group.
    pub(crate) fn phrases(&self, kind: Kind, group: &str, row: usize) -> usize {
        self.0.get(&format!("{kind} {group}")).map_or(0, |numbers| numbers[row])
    }
}

/// Writes the record.
pub(crate) fn save(rows: &Rows, counts: &[Count]) -> Result<(), String> {
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    let mut text = format!("# `cargo xtask prose --save`; phrases of: {}\n", names.join(" | "));
    for count in counts {
        let _ = write!(text, "{} {} |", count.kind, count.group);
        for number in &count.phrases {
            let _ = write!(text, " {number}");
        }
        text.push('\n');
    }
    fs::write(PATH, text).map_err(|error| format!("{PATH}: {error}"))
}
