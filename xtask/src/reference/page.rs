//! A page of the reference: its sections, tables and code spans.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A page of the reference, or a section of one.
pub struct Page {
    /// The path in the repository.
    pub name: String,
    text: String,
}

/// A row of a table.
pub struct Row {
    pub cells: Vec<String>,
}

impl Page {
    pub fn read(root: &Path, name: &str) -> Result<Self, String> {
        let name = format!("book/src/{name}");
        let text = fs::read_to_string(root.join(&name)).map_err(|error| format!("{name}: {error}"));
        Ok(Self { name, text: text? })
    }

    /// Returns the part after this heading, up to the next heading of the same
    /// or a higher level.
    pub fn section(&self, heading: &str) -> Result<Self, String> {
        let start = format!("\n{heading}\n");
        let (_, rest) = self
            .text
            .split_once(&start)
            .ok_or_else(|| format!("{}: the heading `{heading}` is missing", self.name))?;
        let level = heading.bytes().take_while(|byte| *byte == b'#').count();
        let ends = |line: &str| {
            let marks = line.bytes().take_while(|byte| *byte == b'#').count();
            (1..=level).contains(&marks) && line[marks..].starts_with(' ')
        };
        let text: Vec<&str> = rest.lines().take_while(|line| !ends(line)).collect();
        Ok(Self { name: self.name.clone(), text: text.join("\n") + "\n" })
    }

    /// Returns the headings of a level, without their marks.
    pub fn headings(&self, level: &str) -> Vec<&str> {
        let start = format!("{level} ");
        self.text.lines().filter_map(|line| line.strip_prefix(&*start)).collect()
    }

    /// Returns the rows of all tables, without their headings.
    pub fn rows(&self) -> Vec<Row> {
        let lines: Vec<&str> = self.text.lines().collect();
        let is_heading = |at: usize| lines.get(at + 1).is_some_and(|next| next.starts_with("|--"));
        let rows = lines.iter().enumerate().filter(|(at, line)| {
            line.starts_with("| ") && !line.starts_with("|--") && !is_heading(*at)
        });
        rows.map(|(_, line)| Row { cells: cells(line) }).collect()
    }

    /// Returns the code spans in the first cells of all rows.
    pub fn first_codes(&self) -> BTreeSet<String> {
        let rows = self.rows();
        rows.iter().flat_map(|row| codes(row.cell(0))).map(str::to_owned).collect()
    }

    /// Returns the code spans of the line that starts with this text.
    pub fn codes_of_line(&self, start: &str) -> Result<BTreeSet<String>, String> {
        let line = self.text.lines().find_map(|line| line.strip_prefix(start));
        let line = line.ok_or_else(|| format!("{}: no line starts with `{start}`", self.name))?;
        Ok(codes(line).map(str::to_owned).collect())
    }

    /// Returns the differences between the names on this page and in the code.
    pub fn differences(
        &self,
        kind: &str,
        listed: &BTreeSet<String>,
        existing: &BTreeSet<String>,
    ) -> Vec<String> {
        let missing = existing.difference(listed);
        let missing = missing.map(|name| format!("{}: add the {kind} `{name}`", self.name));
        let unknown = listed.difference(existing);
        let unknown = unknown
            .map(|name| format!("{}: the code does not have the {kind} `{name}`", self.name));
        missing.chain(unknown).collect()
    }
}

impl Row {
    /// Returns a cell, which is empty if the row is shorter.
    pub fn cell(&self, number: usize) -> &str {
        self.cells.get(number).map_or("", String::as_str)
    }
}

/// Returns the cells of a row. `\|` is a part of a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{0}");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Returns the code spans of a text.
pub fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { name: "page.md".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let page =
            page("# P\n\n## A\n\n| n |\n|---|\n| `a` |\n\n### B\n\n| `b` |\n\n## C\n\n| `c` |\n");
        let names = |heading: &str| -> Vec<String> {
            page.section(heading).unwrap().first_codes().into_iter().collect()
        };
        assert_eq!(names("## A"), ["a", "b"]);
        assert_eq!(names("### B"), ["b"]);
        assert_eq!(names("## C"), ["c"]);
        assert!(page.section("## D").is_err());
        assert_eq!(page.headings("##"), ["A", "C"]);
    }

    #[test]
    fn a_cell_can_contain_a_bar() {
        let page = page("| a | b |\n|---|---|\n| `x\\|y` | z `w` |\n");
        let rows = page.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].cell(0), rows[0].cell(1), rows[0].cell(2)), ("`x|y`", "z `w`", ""));
    }

    #[test]
    fn differences_have_both_directions() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let got = page("").differences("key", &set(&["a", "b"]), &set(&["b", "c"]));
        assert_eq!(
            got,
            ["page.md: add the key `c`", "page.md: the code does not have the key `a`"]
        );
    }
}
