//! Checks everything that a release needs and that does not need a registry
//! account: `cargo xtask release --dry-run`.
//!
//! `--no-verify` does not compile the packages, which takes most of the time.
//!
//! It never publishes. A maintainer publishes, after reading the checklist at
//! the end of the output.

mod assets;
mod changelog;
mod checklist;
mod license;
mod manifests;
mod metadata;
mod order;
mod packages;
mod sbom;

use std::env;
use std::process::{Command, ExitCode};

use checklist::Checklist;
use metadata::Workspace;
use xtask::{Outcome, end_of, root, semver};

fn main() -> ExitCode {
    end_of(run())
}

/// Runs all steps, also after one of them fails, and prints the checklist.
fn run() -> Outcome {
    let verify = match env::args().skip(2).collect::<Vec<_>>().as_slice() {
        [option] if option == "--dry-run" => true,
        [first, second] if first == "--dry-run" && second == "--no-verify" => false,
        _ => return Err(USAGE.to_owned()),
    };
    let workspace = Workspace::read()?;
    let mut list = Checklist::default();
    list.check("versions", manifests::versions(&workspace));
    list.check("manifests", manifests::docs_rs(&workspace));
    manifests::addresses(&workspace, &mut list);
    changelog::check(&workspace, &mut list);
    revision(&workspace, &mut list);
    let order = order::of(&workspace);
    list.check("order", order.as_ref().map(|names| format!("{} crates", names.len())));
    packages::check(&workspace, verify, &mut list);
    list.check("licenses of dependencies", license::check(&workspace));
    let assets = assets::check(&workspace);
    list.check("bundled assets", assets.as_ref().map(|assets| assets::summary(assets)));
    list.check("SBOM", assets.and_then(|assets| sbom::write(&workspace, &assets)));
    compare(&mut list);
    for task in ["ci", "nightly"] {
        list.skip(
            task,
            &format!("a part of the release, but not of this task: `cargo xtask {task}`"),
        );
    }
    names(&order.unwrap_or_default());
    list.end()
}

const USAGE: &str = "usage: cargo xtask release --dry-run [--no-verify]\n\
    This task never publishes. A maintainer publishes the crates with `cargo publish`, \
    after a dry run passes.";

/// Reports the commit, and a tag that already exists.
fn revision(workspace: &Workspace, list: &mut Checklist) {
    let tag = format!("v{}", workspace.version());
    let found = git(&["tag", "--list", &tag]);
    list.check(
        "tag",
        found.and_then(|found| match found.is_empty() {
            true => Ok(format!("{tag} does not exist yet")),
            false => Err(format!("{tag} already exists: set a new version in Cargo.toml")),
        }),
    );
    let changes = git(&["status", "--porcelain"]);
    list.check(
        "commit",
        changes.and_then(|changes| match changes.is_empty() {
            true => git(&["rev-parse", "HEAD"]),
            false => Err(format!("commit or remove these changes:\n{changes}")),
        }),
    );
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output();
    let output = output.map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        return Err(format!("`git {}` failed", arguments.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Compares the public API with the last release.
fn compare(list: &mut Checklist) {
    match semver::last_tag() {
        None => list.skip("semver", "a tag of an earlier release does not exist"),
        Some(tag) if !semver::is_installed() => {
            list.skip("semver", &format!("install cargo-semver-checks to compare with {tag}"));
        }
        Some(tag) => {
            let compared = semver::compare(Some(&tag));
            list.check("semver", compared.map(|()| format!("compared with {tag}")));
        }
    }
}

/// Prints the names of all crates in the order of their publication.
fn names(order: &[&str]) {
    println!("\nThe names to reserve, in the order of publication:");
    for name in order {
        println!("  {name}");
    }
}
