//! The pages of the reference that need a running program: options in files,
//! defaults, and commands. `cargo xtask tidy` compares the other pages with the
//! code.

mod commands;
mod options;

/// Returns the cells of each table row after a heading, up to the next heading.
fn rows<'p>(page: &'p str, heading: &str) -> Vec<Vec<&'p str>> {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Returns the code spans of a cell.
fn codes(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}
