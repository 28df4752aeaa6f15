//! The task to run after each save: formatting, clippy, and the tests of crates
//! with files that differ from the last commit.
//!
//! `--since REVISION` compares with another commit, for example `--since main`
//! on a branch. Crates that depend on a changed crate are linted but not
//! tested; use `cargo xtask test` for that. The doc examples of a changed crate
//! are tested, in the package that contains their tests.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, announce, cargo, cargo_output, fmt, root, tidy};

pub fn run() -> Outcome {
    fmt()?;
    tidy::run()?;
    let arguments: Vec<String> = env::args().skip(2).collect();
    let since = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => "HEAD",
        ["--since", revision] => revision,
        _ => return Err("usage: cargo xtask check [--since REVISION]".to_owned()),
    };
    let files = changed_files(since)?;
    let members = cargo_output(&["tree", "--workspace", "--depth=0", "--prefix=none"])?;
    let mut packages = packages(&files, |folder| package_in(&root().join(folder)));
    // The other packages belong to separate workspaces.
    packages.retain(|package| members.lines().any(|line| line.starts_with(&format!("{package} "))));
    if packages.is_empty() {
        println!("no package differs from {since}");
        return Ok(());
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-Dwarnings"])?;
    let mut test = vec!["test", "--all-features"];
    packages.iter().for_each(|package| test.extend(["-p", package]));
    if files.iter().any(|file| file.starts_with("crates/")) {
        test.extend(["-p", "stockade-doc-examples"]);
    }
    cargo(&test)
}

/// Returns the files that differ from a commit, and untracked files.
fn changed_files(since: &str) -> Result<Vec<String>, String> {
    let mut files = git(&["diff", "--name-only", since, "--"])?;
    files.extend(git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files)
}

fn git(args: &[&str]) -> Result<Vec<String>, String> {
    let mut command = Command::new("git");
    command.args(args).current_dir(root());
    announce(&command);
    let output = command.output().map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Returns the packages of these files: the package in the nearest parent
/// folder.
fn packages(files: &[String], package_in: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let nearest = |file: &String| Path::new(file).ancestors().skip(1).find_map(&package_in);
    let mut packages: Vec<String> = files.iter().filter_map(nearest).collect();
    packages.sort();
    packages.dedup();
    packages
}

/// Returns the name of the package with its manifest in this folder.
fn package_in(folder: &Path) -> Option<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    package_name(&manifest)
}

fn package_name(manifest: &str) -> Option<String> {
    let (_, package) = manifest.split_once("[package]")?;
    let name = package.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_nearest_package_above_it() {
        #[track_caller]
        fn check(files: &[&str], expected: &[&str]) {
            let known = |folder: &Path| match folder.to_str() {
                Some("crates/a") => Some("a".to_owned()),
                Some("tests") => Some("tests".to_owned()),
                Some("tests/hosts") => Some("hosts".to_owned()),
                _ => None,
            };
            let files: Vec<String> = files.iter().copied().map(str::to_owned).collect();
            assert_eq!(packages(&files, known), expected);
        }
        check(&[], &[]);
        check(&["README.md", "Cargo.lock"], &[]);
        check(&["crates/a/src/lib.rs", "crates/a/Cargo.toml"], &["a"]);
        check(&["tests/it/main.rs", "tests/hosts/main.rs"], &["hosts", "tests"]);
    }

    #[test]
    fn a_manifest_names_its_package() {
        let named = "# A crate.\n[package]\nname = \"stockade-path\"\n";
        assert_eq!(package_name(named).as_deref(), Some("stockade-path"));
        assert_eq!(package_name("[workspace]\nmembers = []\n"), None);
    }
}
