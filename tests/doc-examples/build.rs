//! Collects the doc comments with examples from the facade and all crates that
//! it re-exports, the README, and the chapters of the book.
//!
//! Each text becomes the documentation of an empty module. rustdoc then tests
//! the examples here, where `stockade` is the only crate of the framework and
//! has all features.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Crates for users without the facade; these crates test their own examples.
const ALONE: [&str; 2] = ["stockade-auth", "stockade-validation"];

/// The chapters about these crates, which test them.
const THEIR_CHAPTERS: [&str; 2] = ["auth-only.md", "validation-only.md"];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (crates, facade, book) = (root.join("crates"), root.join("facade"), root.join("book/src"));
    for watched in [&crates, &facade, &book, &root.join("README.md")] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let mut modules = String::new();
    module(&mut modules, "readme", &fs::read_to_string(root.join("README.md"))?)?;
    collect(&book, "book", &mut modules)?;
    collect(&facade.join("src"), "facade", &mut modules)?;
    for krate in sorted(&crates)? {
        let name = file_name(&krate);
        if !ALONE.contains(&name.as_str()) {
            collect(&krate.join("src"), name.trim_start_matches("stockade-"), &mut modules)?;
        }
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("examples.rs"), modules)
}

/// Writes a module for each comment and each page with an example in a folder.
fn collect(folder: &Path, prefix: &str, modules: &mut String) -> io::Result<()> {
    for path in sorted(folder)? {
        let file = file_name(&path);
        let (stem, extension) = file.split_once('.').unwrap_or((&file, ""));
        let name = format!("{prefix}_{}", stem.replace('-', "_").to_lowercase());
        if path.is_dir() {
            collect(&path, &name, modules)?;
        } else if extension == "md" && !THEIR_CHAPTERS.contains(&file.as_str()) {
            module(modules, &name, &fs::read_to_string(&path)?)?;
        } else if extension == "rs" {
            for (line, text) in comments(&fs::read_to_string(&path)?) {
                module(modules, &format!("{name}_line_{line}"), &text)?;
            }
        }
    }
    Ok(())
}

fn module(modules: &mut String, name: &str, text: &str) -> io::Result<()> {
    writeln!(modules, "#[doc = {text:?}]\npub mod {name} {{}}").map_err(io::Error::other)
}

/// Returns each comment with an example, and the number of its first line.
fn comments(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (index, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        if !is_open {
            found.push((index + 1, String::new()));
            is_open = true;
        }
        if let Some((_, comment)) = found.last_mut() {
            comment.push_str(text.strip_prefix(' ').unwrap_or(text));
            comment.push('\n');
        }
    }
    found.retain(|(_, comment)| comment.contains("```"));
    found
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().replace(char::is_whitespace, "_")
}
