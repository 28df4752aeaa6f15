//! Checks for faults that rustfmt and clippy do not find.

use std::fs;
use std::path::{Path, PathBuf};

use crate::citations::Files;
use crate::specification::Specification;
use crate::{
    Outcome, book, flows, lengths, names, prelude, readme, reference, root, template, untested,
};

/// Checks every source file and manifest of the workspace, the names in
/// ARCHITECTURE.md, the prelude, README and book, the pages of the reference, the
/// lengths of documents, the public type names, and the references to the
/// specification.
pub fn run() -> Outcome {
    let root = root();
    let mut faults = flows::check(&root);
    faults.extend(prelude::check(&root));
    faults.extend(names::check(&root));
    faults.extend(readme::check(&root)?);
    faults.extend(reference::check(&root)?);
    faults.extend(lengths::check(&root)?);
    faults.extend(book::check(&root));
    faults.extend(template::faults(&root)?);
    faults.extend(untested::check(&root));
    let specification = Specification::read(&root)?;
    let folders = ["crates", "facade", "book", "docs", "examples", "templates", "tests", "xtask"];
    let paths = folders.iter().flat_map(|folder| files_below(&root.join(folder)));
    let paths: Vec<PathBuf> = paths.chain(documents(&root)).collect();
    let names: Vec<PathBuf> =
        paths.iter().map(|path| path.strip_prefix(&root).unwrap_or(path).to_path_buf()).collect();
    let files = Files::new(&names);
    for (path, name) in paths.iter().zip(&names) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        faults.extend(file(&name.display().to_string(), &text, &specification, &files));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Returns the documents in the root.
pub fn documents(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|found| found == "md")).collect()
}

/// Returns the faults of one file.
fn file(name: &str, text: &str, specification: &Specification, files: &Files) -> Vec<String> {
    let mut faults = Vec::new();
    let is_copied = name.starts_with("tests/vectors") || name.ends_with("CHANGELOG.md");
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            faults.extend(source(name, text));
            if !name.starts_with("xtask") {
                faults.extend(specification.faults(name, text));
                faults.extend(files.faults(name, text));
            }
            if is_library(name) {
                faults.extend(question_lines(name, text));
                faults.extend(poisoning(name, text));
            }
        }
        Some("md") if !is_copied => faults.extend(files.faults(name, text)),
        Some("toml") if name.starts_with("crates") || name == "facade/Cargo.toml" => {
            faults.extend(manifest(name, text));
        }
        _ => {}
    }
    faults
}

/// Returns true for published code.
fn is_library(name: &str) -> bool {
    let (folder, rest) = name.split_once('/').unwrap_or_default();
    let rest =
        if folder == "crates" { rest.split_once('/').map(|(_, rest)| rest) } else { Some(rest) };
    ["crates", "facade"].contains(&folder) && rest.is_some_and(|rest| rest.starts_with("src/"))
}

/// Returns the faults of doc lines that begin with a question word. A doc
/// comment begins with a noun or a verb, so the first words identify its
/// subject.
fn question_lines(name: &str, text: &str) -> Vec<String> {
    let is_question = |line: &str| {
        let line = line.trim_start();
        let words = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
        let word = words.and_then(|words| words.split(|c: char| !c.is_alphabetic()).next());
        word.is_some_and(|word| ["How", "What", "Whether", "Who"].contains(&word))
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_question(line));
    let fault = |(number, line): (usize, &str)| {
        format!(
            "{name}:{number}: begins with What, Whether, Who or How: use a noun, or a verb such \
             as \"Returns\": {}",
            line.trim()
        )
    };
    lines.map(fault).collect()
}

/// Returns the fault of library code that handles poisoned locks itself.
fn poisoning(name: &str, text: &str) -> Option<String> {
    let is_own_copy = text.contains("PoisonError") && name != LOCKS;
    is_own_copy.then(|| format!("{name}: use the functions of {LOCKS} instead of `PoisonError`"))
}

/// The file with the functions that ignore poisoning.
const LOCKS: &str = "crates/stockade-errors/src/locks.rs";

/// Returns the faults of a source file.
fn source(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    // Cases for compiler messages are as short as possible.
    let is_case = name.starts_with("tests/ui");
    if !is_case && !text.starts_with("//!") && !text.starts_with("#![doc") {
        faults.push(format!("{name}: the module doc (`//! …`) is missing"));
    }
    for (number, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            faults.push(format!("{name}:{}: trailing whitespace", number + 1));
        }
    }
    // Tests that need a program are ignored, and a task runs them.
    let ignores = text.matches("#[ignore").count();
    let reasons = text.matches("#[ignore = \"needs ").count();
    if ignores > reasons || text.contains("#[should_panic") {
        // This file contains the searched text itself.
        if !name.ends_with("xtask/src/tidy.rs") {
            faults.push(format!(
                "{name}: a test uses `should_panic`, or is ignored without `needs …` as the reason"
            ));
        }
    }
    let lines = text.lines().count();
    if lines > LONG_FILE {
        println!("note: {name} has {lines} lines");
    }
    faults
}

/// Returns the faults of a library's manifest.
fn manifest(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.contains("[lints]\nworkspace = true") {
        faults.push(format!("{name}: `[lints] workspace = true` is missing"));
    }
    for key in ["description", "readme", "keywords", "categories"] {
        if !text.contains(&format!("\n{key} = ")) {
            faults.push(format!("{name}: the package key `{key}` is missing"));
        }
    }
    for key in ADDRESSES {
        if !text.contains(&format!("\n{key}.workspace = true\n")) {
            faults.push(format!("{name}: `{key}.workspace = true` is missing"));
        }
    }
    if !text.contains("\n[package.metadata.docs.rs]\nall-features = true\n") {
        faults.push(format!("{name}: `[package.metadata.docs.rs] all-features = true` is missing"));
    }
    faults
}

/// The package keys with an address, which all libraries inherit from the
/// workspace.
pub const ADDRESSES: [&str; 3] = ["repository", "homepage", "documentation"];

pub fn files_below(folder: &Path) -> Vec<PathBuf> {
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

/// The length above which files are listed but not rejected.
const LONG_FILE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_faults() {
        assert_eq!(source("a.rs", "//! A.\nfn a() {}\n"), Vec::<String>::new());
        assert_eq!(source("a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(source("a.rs", "//! A. \n").len(), 1);
        assert_eq!(source("a.rs", "//! A.\n#[ignore]\n").len(), 1);
        assert_eq!(source("a.rs", "//! A.\n#[ignore = \"slow\"]\n").len(), 1);
        let needs = "//! A.\n#[ignore = \"needs a server: cargo xtask sql\"]\n";
        assert_eq!(source("a.rs", needs), Vec::<String>::new());
        assert_eq!(manifest("Cargo.toml", "[package]\n").len(), 9);
    }

    #[test]
    fn finds_copies_of_the_lock_functions() {
        let text = "//! A.\nuse std::sync::PoisonError;\n";
        assert!(poisoning("crates/stockade-core/src/upgrade.rs", text).is_some());
        assert!(poisoning("crates/stockade-core/src/upgrade.rs", "//! A.\n").is_none());
        assert!(poisoning(LOCKS, text).is_none());
    }

    #[test]
    fn doc_lines_with_question_words_are_faults() {
        let text = "//! Who.\n/// Returns what is there.\n    /// Whether it is.\n// How it is.\n\
            /// However, it is.\n///\n/// What\n";
        let found = question_lines("a.rs", text);
        let expected = [
            ("a.rs:1: ", "//! Who."),
            ("a.rs:3: ", "/// Whether it is."),
            ("a.rs:7: ", "/// What"),
        ];
        assert_eq!(found.len(), expected.len());
        for (fault, (place, line)) in found.iter().zip(expected) {
            assert!(fault.starts_with(place) && fault.ends_with(line), "{fault}");
        }
    }

    #[test]
    fn only_sources_of_libraries_are_published() {
        for (name, expected) in [
            ("crates/stockade-core/src/lib.rs", true),
            ("facade/src/prelude.rs", true),
            ("crates/stockade-core/tests/it/main.rs", false),
            ("facade/tests/a.rs", false),
            ("xtask/src/main.rs", false),
            ("tests/it/main.rs", false),
        ] {
            assert_eq!(is_library(name), expected, "{name}");
        }
    }
}
