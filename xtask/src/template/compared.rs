//! Compares the generated programs with the output of cargo-generate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::TEMPLATE;
use super::generate::{self, Choice, NAME};
use crate::tidy::files_below;
use crate::{Outcome, cargo, root, run as started, target_directory};

/// The version that the task installs: later ones need a newer Rust than we do.
const VERSION: &str = "0.23.8";

/// Fails if cargo-generate writes other files than `generate::write`, or other
/// bytes.
pub(super) fn with_cargo_generate(folder: &Path) -> Outcome {
    let tool = cargo_generate()?;
    let template = root().join(TEMPLATE);
    for choice in Choice::all() {
        // One with the published crate, and the others with a path.
        for stockade in ["", "../stockade/facade"] {
            let name =
                format!("{}-{}", choice.name(), if stockade.is_empty() { "crate" } else { "path" });
            let ours = folder.join("ours").join(&name);
            generate::write(&template, &ours, &choice.variables(stockade))?;
            let theirs = folder.join("theirs").join(&name);
            fs::create_dir_all(&theirs)
                .map_err(|error| format!("{}: {error}", theirs.display()))?;
            let mut command = Command::new(&tool);
            command.args([
                "generate",
                "--silent",
                "--vcs",
                "none",
                "--no-workspace",
                "--name",
                NAME,
            ]);
            // It stops if the environment does not name the user.
            command.env("USER", "notes");
            command.arg("--path").arg(&template).arg("--destination").arg(&theirs);
            for (variable, value) in choice.variables(stockade).iter().skip(1) {
                command.args(["--define", &format!("{variable}={value}")]);
            }
            started(&mut command)?;
            let differences = differences(&files(&ours), &files(&theirs.join(NAME)));
            if !differences.is_empty() {
                return Err(format!("{name}: {}", differences.join("; ")));
            }
        }
    }
    Ok(())
}

/// Returns the path of cargo-generate. Installs it in the target folder if it is
/// missing.
fn cargo_generate() -> Result<PathBuf, String> {
    let tools = target_directory()?.join("tools");
    let installed = tools.join("bin/cargo-generate");
    for candidate in [PathBuf::from("cargo-generate"), installed.clone()] {
        let output = Command::new(&candidate).arg("--version").output();
        if output.is_ok_and(|output| output.status.success()) {
            return Ok(candidate);
        }
    }
    let tools = tools.to_str().ok_or("the target directory is not UTF-8")?;
    // The omitted feature downloads templates.
    let options = ["--locked", "--no-default-features", "--version", VERSION, "--root", tools];
    cargo(&[&["install", "cargo-generate"], &options[..]].concat())?;
    Ok(installed)
}

/// Returns the files below a folder, by their paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        (name, fs::read(&path).unwrap_or_default())
    };
    files_below(folder).into_iter().map(read).collect()
}

fn differences(
    ours: &BTreeMap<String, Vec<u8>>,
    theirs: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, bytes) in ours {
        match theirs.get(name) {
            None => differences.push(format!("cargo-generate does not write {name}")),
            Some(other) if other != bytes => {
                differences.push(format!("cargo-generate writes {name} differently"));
            }
            Some(_) => {}
        }
    }
    let added = theirs.keys().filter(|name| !ours.contains_key(*name));
    differences.extend(added.map(|name| format!("only cargo-generate writes {name}")));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_differences() {
        let files = |files: &[(&str, &str)]| {
            let owned =
                files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
            owned.collect::<BTreeMap<_, _>>()
        };
        let ours = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        assert!(differences(&ours, &ours).is_empty());
        let theirs = files(&[("a", "1"), ("b", "4"), ("d", "3")]);
        assert_eq!(
            differences(&ours, &theirs),
            [
                "cargo-generate writes b differently",
                "cargo-generate does not write c",
                "only cargo-generate writes d",
            ]
        );
    }
}
