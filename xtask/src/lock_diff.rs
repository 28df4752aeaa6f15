//! `lock-diff`: compares the mutations of `tests/it/testing/lock` as documents
//! with redocly. If both tools can see a change, the lock must never be less
//! strict.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Outcome, announce, cargo_command, root, run, skip, target_directory};

/// The file that pins the version of redocly.
const PACKAGES: &str = "tests/openapi/package.json";

/// The mutations that are breaking for redocly but not for the lock: the name
/// of the mutation, the direction, and the reason.
const EXCEPTIONS: &str = "tests/it/testing/lock/redocly.txt";

pub fn task() -> Outcome {
    let has_npm = Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_npm {
        skip("lock-diff (npm)");
        return Ok(());
    }
    let folder = target_directory()?.join("lock-diff");
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(fault)?;
    let documents = ["test", "-p", "stockade-tests", "--test", "it", "lock::documents"];
    let mut cargo = cargo_command();
    run(cargo.args(documents).env("STOCKADE_LOCK_DOCUMENTS", &folder).current_dir(root()))?;
    let redocly = format!("@redocly/cli@{}", version()?);
    let install = ["install", "--silent", "--ignore-scripts", "--prefix", ".", &redocly];
    run(Command::new("npm").args(install).current_dir(&folder))?;
    let list = fs::read_to_string(folder.join("mutations.txt")).map_err(fault)?;
    let mut exceptions = exceptions()?;
    let mut faults = Vec::new();
    for line in list.lines() {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        let [index, forward, backward, name] = parts.as_slice() else {
            return Err(format!("mutations.txt: {line}"));
        };
        let ways = [("forward", forward, ["old", "new"]), ("backward", backward, ["new", "old"])];
        for (way, is_breaking, [from, to]) in ways {
            let majors =
                majors(&folder, &format!("{index}.{from}.json"), &format!("{index}.{to}.json"))?;
            let excepted = exceptions.remove(&format!("{name} | {way}"));
            let is_milder = majors > 0 && *is_breaking == "false";
            match (is_milder, excepted) {
                (true, None) => faults.push(format!("{name}, {way}: redocly finds {majors}")),
                (false, Some(_)) => {
                    faults.push(format!("{name}, {way}: the exception is no longer needed"))
                }
                _ => {}
            }
        }
    }
    faults.extend(exceptions.keys().map(|key| format!("{key}: unknown mutation")));
    if faults.is_empty() { Ok(()) } else { Err(format!("lock-diff:\n{}", faults.join("\n"))) }
}

fn version() -> Result<String, String> {
    let text = fs::read_to_string(root().join(PACKAGES)).map_err(|error| error.to_string())?;
    let version = text.split_once("\"@redocly/cli\": \"").and_then(|(_, it)| it.split_once('"'));
    version
        .map(|(version, _)| version.to_owned())
        .ok_or(format!("{PACKAGES} does not contain redocly"))
}

/// Returns the reasons of the exceptions, by name and direction.
fn exceptions() -> Result<BTreeMap<String, String>, String> {
    let text = fs::read_to_string(root().join(EXCEPTIONS)).map_err(|error| error.to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|line| match line.rsplit_once(" | ") {
        Some((key, reason)) => Ok((key.to_owned(), reason.to_owned())),
        None => Err(format!("{EXCEPTIONS}: {line}")),
    });
    pairs.collect()
}

/// Returns the number of changes that redocly classifies as major.
fn majors(folder: &Path, from: &str, to: &str) -> Result<u64, String> {
    let mut redocly = Command::new("node_modules/.bin/redocly");
    redocly.args(["diff", from, to, "--format", "json", "--fail-on", "none"]);
    announce(&redocly);
    let output = redocly.current_dir(folder).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("redocly: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    number_behind(&text, "\"major\": ").ok_or_else(|| format!("redocly does not report {from}"))
}

fn number_behind(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_major_changes_is_read() {
        let text = "{ \"summary\": {\n    \"major\": 12,\n    \"minor\": 0 } }";
        assert_eq!(number_behind(text, "\"major\": "), Some(12));
        assert_eq!(number_behind("{}", "\"major\": "), None);
        assert!(exceptions().is_ok() && version().is_ok());
    }
}
