//! Compares the public API with the last release, by cargo-semver-checks.

use std::env;
use std::process::{Command, Stdio};

use crate::{Outcome, announce, audit, cargo_command, is_part_of, root, run as started, skip};

/// Compares all published crates with the last tag, or with the revision after
/// `--baseline`.
pub fn run() -> Outcome {
    let baseline = match env::args().skip(2).collect::<Vec<_>>().as_slice() {
        [] => last_tag(),
        [option, revision] if option == "--baseline" => Some(revision.clone()),
        _ if is_part_of("nightly") => last_tag(),
        _ => return Err("usage: cargo xtask semver [--baseline REVISION]".to_owned()),
    };
    compare(baseline.as_deref())
}

/// Compares all published crates with a revision. Skips the comparison if
/// the revision or the tool is missing.
pub fn compare(baseline: Option<&str>) -> Outcome {
    let Some(baseline) = baseline else {
        skip(
            "semver: this repository does not have a tag `v…` of a release \
             (`cargo xtask semver --baseline REVISION` compares with another revision)",
        );
        return Ok(());
    };
    if !is_installed() {
        skip("semver (`cargo install cargo-semver-checks --locked`, then run this again)");
        return Ok(());
    }
    let mut command = cargo_command();
    command.args(["semver-checks", "--all-features", "--baseline-rev", baseline]);
    audit::crates().for_each(|krate| {
        command.args(["-p", krate]);
    });
    started(command.current_dir(root()))
}

/// Returns true if cargo-semver-checks is installed.
#[must_use]
pub fn is_installed() -> bool {
    let mut version = cargo_command();
    version.args(["semver-checks", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    announce(&version);
    version.status().is_ok_and(|status| status.success())
}

/// Returns the newest tag `v…` before the current commit.
#[must_use]
pub fn last_tag() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0", "--match", "v*"]).current_dir(root());
    announce(&git);
    let output = git.stderr(Stdio::null()).output().ok()?;
    let tag = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !tag.is_empty()).then_some(tag)
}
