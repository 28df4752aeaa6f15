//! Prints the largest circle of files in each crate, and the number of names in
//! the `__internal` modules. A circle is a set of files that use each other in
//! a loop.
//!
//! `cargo xtask circles` runs it and fails if a number exceeds its limit.
//! `cargo xtask circles -v` lists the files and the names that connect them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod graph;
mod internal;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use graph::Circle;
use sources::Sources;

/// The maximum size of a crate's largest circle, in files.
const LIMITS: &[(&str, usize)] = &[("stockade-core", 6), ("stockade-routing", 8)];

/// The maximum number of names in the `__internal` modules of all crates.
const MAX_INTERNAL_NAMES: usize = 40;

fn main() -> ExitCode {
    let verbose = env::args().any(|argument| argument == "-v");
    match run(Path::new("crates"), verbose) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            eprintln!("{}", faults.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the circles of all crates and returns those above their limits.
fn run(crates: &Path, verbose: bool) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let mut internal = 0;
    for krate in folders(crates)? {
        let name = file_name(&krate);
        let sources = Sources::read(&krate.join("src"))?;
        let circles = graph::circles(sources.uses());
        let largest = circles.first().map_or(0, |circle| circle.files.len());
        println!("{name}: {} files, largest circle {largest}", sources.len());
        if verbose {
            circles.iter().for_each(print);
        }
        let names = internal::names(&krate.join("src/lib.rs"))?;
        internal += names.len();
        if verbose && !names.is_empty() {
            println!("  __internal: {}", names.join(", "));
        }
        let limit = LIMITS.iter().find(|(limited, _)| *limited == name);
        if let Some((_, limit)) = limit
            && largest > *limit
        {
            faults.push(format!(
                "{name}: a circle has {largest} files, at most {limit} are \
                                 allowed: run `cargo xtask circles -v` to list them"
            ));
        }
    }
    println!("{internal} names in `__internal` modules");
    if internal > MAX_INTERNAL_NAMES {
        faults.push(format!(
            "the `__internal` modules have {internal} names, at most {MAX_INTERNAL_NAMES} are \
             allowed: run `cargo xtask circles -v` to list them"
        ));
    }
    Ok(faults)
}

fn print(circle: &Circle) {
    println!("  {} files:", circle.files.len());
    for (from, to, names) in &circle.edges {
        println!("    {from} -> {to}: {}", names.join(", "));
    }
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut folders: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join("src").is_dir())
        .collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
