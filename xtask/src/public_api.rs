//! The public items of each crate as a committed list, `public-api.txt` next to
//! its manifest. A change to the public API changes this file and is visible in
//! a review.
//!
//! `cargo xtask public-api` compares the lists, and `--save` writes them. They
//! omit blanket implementations, auto trait implementations and hidden items.
//!
//! cargo-public-api creates the list from rustdoc's JSON, which requires a
//! nightly toolchain, or a stable one with `RUSTC_BOOTSTRAP`. If cargo received
//! this variable, it would recompile all dependencies, because their build
//! scripts check it. Therefore only rustdoc receives it, through this program
//! (`RUSTDOC`), and the existing output of clippy and the tests is reused.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::command::build_once;
use crate::{
    Outcome, announce, audit, cargo_command, cargo_output, is_part_of, root, run as started, skip,
    target_directory,
};

pub fn run() -> Outcome {
    let save = match env::args().skip(2).collect::<Vec<_>>().as_slice() {
        [] => false,
        [option] if option == "--save" => true,
        _ if is_part_of("ci") => false,
        _ => return Err("usage: cargo xtask public-api [--save]".to_owned()),
    };
    let Some(tool) = version(cargo_command().args(["public-api", "--version"])) else {
        skip("public items (`cargo install cargo-public-api --locked`, then run this again)");
        return Ok(());
    };
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let rustc =
        version(Command::new(rustc).arg("--version")).ok_or("cannot read the version of rustc")?;
    document()?;
    let by = format!("# {tool}, {rustc}");
    let documents = target_directory()?.join("doc");
    let mut faults = Vec::new();
    for krate in audit::crates() {
        let path = list_of(krate);
        let items = items(krate, &documents);
        if save {
            let list = format!("{by}\n{}", items?);
            fs::write(&path, list).map_err(|error| format!("{}: {error}", path.display()))?;
            continue;
        }
        let written = fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}; {HOW_TO_WRITE}", path.display()))?;
        let differences =
            items.map_or_else(|error| vec![error], |items| difference(&written, &items));
        let written_by = written.lines().next().unwrap_or_default();
        if differences.is_empty() {
            continue;
        }
        let told = format!("{krate}:\n{}", differences.join("\n"));
        if written_by == by {
            faults.push(told);
        } else {
            // With other versions, the tool may not read the JSON or may write
            // a different list.
            println!("{told}");
            skip(&format!(
                "public items of {krate}: found {by:?}, the list is from {written_by:?}"
            ));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join("\n");
    Err(format!("the public items differ from public-api.txt:\n{faults}\n{HOW_TO_WRITE}"))
}

const HOW_TO_WRITE: &str = "if the change is intended, run: cargo xtask public-api --save";

/// Makes rustdoc write the JSON of all crates. Fails for the same mistakes as
/// the pages, such as broken links, in half the time.
pub(crate) fn document() -> Outcome {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = cargo_command();
    command.args(["doc", "--lib", "--all-features", "--no-deps"]);
    // Examples and tests do not have pages.
    for krate in audit::crates() {
        command.args(["-p", krate]);
    }
    command.env("RUSTDOC", own).env(RUSTDOC, rustdoc());
    command.env("RUSTDOCFLAGS", "-Dwarnings -Zunstable-options --output-format=json");
    build_once(&mut command);
    started(command.current_dir(root()))
}

/// The variable that makes this program act as rustdoc; it contains the path of
/// the real rustdoc.
const RUSTDOC: &str = "XTASK_RUSTDOC";

fn rustdoc() -> String {
    env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".to_owned())
}

/// Runs rustdoc if cargo has started this program as rustdoc.
pub fn as_rustdoc() -> Option<ExitCode> {
    let rustdoc = env::var(RUSTDOC).ok()?;
    let mut command = Command::new(rustdoc);
    let status = command.args(env::args().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Returns the public items of a crate, one per line.
fn items(krate: &str, documents: &Path) -> Result<String, String> {
    let json = documents.join(format!("{}.json", krate.replace('-', "_")));
    let json = json.to_str().ok_or("the target directory is not UTF-8")?;
    let omit = ["--omit", "blanket-impls,auto-trait-impls", "--color", "never"];
    cargo_output(&[&["public-api", "--rustdoc-json", json][..], &omit].concat())
}

/// Returns the file that lists the items of a crate.
fn list_of(krate: &str) -> PathBuf {
    let folder = if krate == "stockade" { "facade".to_owned() } else { format!("crates/{krate}") };
    root().join(folder).join("public-api.txt")
}

/// Returns the lines that only one of two lists contains; a line with `#` is
/// not an item.
fn difference(written: &str, found: &str) -> Vec<String> {
    let only = |sign: char, one: &str, other: &str| {
        let others: Vec<&str> = other.lines().collect();
        let items = one.lines().filter(|line| !line.starts_with('#'));
        items
            .filter(|line| !others.contains(line))
            .map(|line| format!("  {sign} {line}"))
            .collect::<Vec<_>>()
    };
    [only('-', written, found), only('+', found, written)].concat()
}

/// Returns the first line of a program's version output.
fn version(command: &mut Command) -> Option<String> {
    announce(command);
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_additions_and_removals() {
        #[track_caller]
        fn check(written: &str, found: &str, expected: &[&str]) {
            assert_eq!(difference(written, found), expected);
        }
        check("# a 1\npub fn a()\n", "# a 2\npub fn a()\n", &[]);
        check("# a 1\npub fn a()\n", "# a 1\npub fn b()\n", &["  - pub fn a()", "  + pub fn b()"]);
        check("", "# a 1\npub fn b()\n", &["  + pub fn b()"]);
    }

    #[test]
    fn each_crate_has_its_list_next_to_its_manifest() {
        for krate in audit::crates() {
            let list = list_of(krate);
            assert!(list.with_file_name("Cargo.toml").is_file(), "{}", list.display());
        }
    }
}
