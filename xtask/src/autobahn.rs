//! Runs the Autobahn test suite against the echo example.
//!
//! `wstest` comes from the PyPI package `autobahntestsuite`, which needs
//! CPython 2.7. Its path comes from the environment variable `WSTEST`, or else
//! from `PATH`.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Outcome, announce, cargo, skip, target_directory};

/// The cases that must pass without `NON-STRICT`.
const CASES: &str = r#"["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"]"#;

/// The compression cases, for the routes that compress.
const COMPRESSION_CASES: &str = r#"["12.*", "13.*"]"#;

/// The agents of the suite: the name, the path of the route, the cases, and the
/// excluded cases.
const AGENTS: [(&str, &str, &str, &str); 4] = [
    ("all", "/binary", CASES, "[]"),
    ("text", "/", CASES, r#"["9.*"]"#),
    ("compressed", "/compressed", COMPRESSION_CASES, "[]"),
    ("takeover", "/takeover", COMPRESSION_CASES, "[]"),
];

/// Deviations of the route `/`, which accepts only text. It ignores binary
/// messages, as the specification requires, while the suite expects an echo.
const TEXT_ONLY_DEVIATIONS: [&str; 8] =
    ["1.2.1", "1.2.2", "1.2.3", "1.2.4", "1.2.5", "1.2.6", "1.2.7", "1.2.8"];

pub fn run() -> Outcome {
    let wstest = env::var_os("WSTEST").map_or_else(|| PathBuf::from("wstest"), PathBuf::from);
    let mut version = Command::new(&wstest);
    version.arg("--help").stdout(Stdio::null()).stderr(Stdio::null());
    if !version.status().is_ok_and(|status| status.success()) {
        skip("the Autobahn test suite (`pip install autobahntestsuite` with CPython 2.7)");
        return Ok(());
    }
    cargo(&["build", "--release", "-p", "internal-examples", "--bin", "echo"])?;
    let target = target_directory()?;
    let mut command = Command::new(target.join("release/echo"));
    command.env("PORT", "0").stdout(Stdio::piped());
    announce(&command);
    let mut echo = command.spawn().map_err(|error| format!("cannot start echo: {error}"))?;
    let outcome = test(&mut echo, &wstest, &target.join("autobahn"));
    // The server must never be left running.
    let _ = echo.kill();
    let _ = echo.wait();
    outcome
}

fn test(echo: &mut Child, wstest: &Path, directory: &Path) -> Outcome {
    let stdout = echo.stdout.take().ok_or("echo does not have output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
    let address = line.split_once("ws://").and_then(|(_, rest)| rest.split_once(';'));
    let (address, _) = address.ok_or(format!("found no address in the output {line:?} of echo"))?;
    for (agent, path, cases_of_agent, excluded) in AGENTS {
        let directory = directory.join(agent);
        fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let specification = format!(
            r#"{{"outdir": ".", "servers": [{{"agent": "{agent}", "url": "ws://{address}{path}"}}],
            "cases": {cases_of_agent}, "exclude-cases": {excluded}, "exclude-agent-cases": {{}}}}"#
        );
        let fault = |error: std::io::Error| error.to_string();
        fs::write(directory.join("fuzzingclient.json"), specification).map_err(fault)?;
        let mut command = Command::new(wstest);
        command.args(["-m", "fuzzingclient", "-s", "fuzzingclient.json"]);
        crate::run(command.current_dir(&directory).stdout(Stdio::null()))?;
        let index = fs::read_to_string(directory.join("index.json")).map_err(fault)?;
        let cases = cases(&index);
        let expected: &[&str] = if agent == "text" { &TEXT_ONLY_DEVIATIONS } else { &[] };
        let wrong: Vec<&str> = cases
            .iter()
            .filter(|(name, behavior)| {
                !matches!(*behavior, "OK" | "INFORMATIONAL") && !expected.contains(name)
            })
            .map(|(name, _)| *name)
            .collect();
        println!("{path}: {} cases, {} wrong", cases.len(), wrong.len());
        if cases.is_empty() || !wrong.is_empty() {
            return Err(format!("{path}: {wrong:?}; see {}", directory.display()));
        }
    }
    Ok(())
}

/// Returns the cases of a report and their behavior.
fn cases(index: &str) -> Vec<(&str, &str)> {
    let mut cases = Vec::new();
    let mut name = "";
    for line in index.lines().map(str::trim) {
        if let Some(case) = line.strip_suffix("\": {").and_then(|line| line.strip_prefix('"')) {
            name = case;
        } else if let Some(rest) = line.strip_prefix("\"behavior\": \"") {
            cases.push((name, rest.trim_end_matches(['"', ','])));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_cases() {
        let index = r#"{
   "all": {
      "1.1.1": {
         "behavior": "OK",
         "behaviorClose": "OK",
         "duration": 2
      },
      "3.2": {
         "behavior": "NON-STRICT",
         "behaviorClose": "OK"
      }
   }
}"#;
        assert_eq!(cases(index), [("1.1.1", "OK"), ("3.2", "NON-STRICT")]);
    }
}
