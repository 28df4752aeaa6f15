//! What neither rustfmt nor clippy sees.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, flows, root};

/// Checks every source file and manifest of the workspace, and the names in
/// ARCHITECTURE.md.
pub fn run() -> Outcome {
    let root = root();
    let mut faults = flows::check(&root);
    for folder in ["crates", "facade", "examples", "tests", "xtask"] {
        for path in files_below(&root.join(folder)) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => faults.extend(source(&name, &text)),
                Some("toml") if name.starts_with("crates") => faults.extend(manifest(&name, &text)),
                _ => {}
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The faults of a source file.
fn source(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    // Cases for the compiler's messages are as short as possible.
    let is_case = name.starts_with("tests/ui");
    if !is_case && !text.starts_with("//!") && !text.starts_with("#![doc") {
        faults.push(format!("{name}: begins without a module doc (`//! …`)"));
    }
    for (number, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            faults.push(format!("{name}:{}: white space at the end", number + 1));
        }
    }
    if text.contains("#[ignore") || text.contains("#[should_panic") {
        // Written in two pieces here would be found as well.
        if !name.ends_with("xtask/src/tidy.rs") {
            faults.push(format!("{name}: a test is ignored or expects a panic"));
        }
    }
    let lines = text.lines().count();
    if lines > LONG_FILE {
        println!("note: {name} has {lines} lines");
    }
    faults
}

/// The faults of a library's manifest.
fn manifest(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.contains("[lints]\nworkspace = true") {
        faults.push(format!("{name}: `[lints] workspace = true` is missing"));
    }
    for key in ["description", "readme", "keywords", "categories"] {
        if !text.contains(&format!("\n{key} = ")) {
            faults.push(format!("{name}: `{key}` is missing, which a package has"));
        }
    }
    faults
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_dir() {
            found.push(path);
        } else if path.file_name().is_some_and(|name| name != "target") {
            found.extend(files_below(&path));
        }
    }
    found.sort();
    found
}

/// Longer files are listed, not refused.
const LONG_FILE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found() {
        assert_eq!(source("a.rs", "//! A.\nfn a() {}\n"), Vec::<String>::new());
        assert_eq!(source("a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(source("a.rs", "//! A. \n").len(), 1);
        assert_eq!(source("a.rs", "//! A.\n#[ignore]\n").len(), 1);
        assert_eq!(manifest("Cargo.toml", "[package]\n").len(), 5);
    }
}
