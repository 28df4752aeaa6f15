//! Tests the server with the newest release of hyper.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{read, version_in};
use crate::{Outcome, cargo_command, root, run as run_command, target_directory};

/// Runs the tests in a copy of the workspace, which has its own lock file.
pub fn run() -> Outcome {
    let folder = target_directory()?.join("hyper");
    let copy = folder.join("newest");
    // Files that no longer exist would still be compiled.
    let _ = fs::remove_dir_all(&copy);
    for file in tracked_files()? {
        copy_file(&root().join(&file), &copy.join(&file))?;
    }
    let locked = locked_version(&copy)?;
    let mut update = cargo_command();
    run_command(update.args(["update", "-p", "hyper"]).current_dir(&copy))?;
    println!("hyper: {locked} in Cargo.lock, {} is the newest", locked_version(&copy)?);
    for package in ["stockade-server", "stockade-tests-hosts"] {
        let mut test = cargo_command();
        test.args(["test", "--locked", "-p", package, "--all-features", "--tests"]);
        test.env("CARGO_TARGET_DIR", folder.join("target")).current_dir(&copy);
        run_command(&mut test)?;
    }
    Ok(())
}

/// Returns the files of the repository, including new ones.
fn tracked_files() -> Result<Vec<PathBuf>, String> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = list.current_dir(root()).output().map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let names = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    let files = names.split_terminator('\0').map(PathBuf::from);
    Ok(files.filter(|file| root().join(file).is_file()).collect())
}

fn copy_file(from: &Path, to: &Path) -> Outcome {
    let fault = |error: std::io::Error| format!("{}: {error}", to.display());
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(fault)?;
    fs::copy(from, to).map(drop).map_err(fault)
}

/// Returns the version of hyper in the lock file of a workspace.
fn locked_version(workspace: &Path) -> Result<String, String> {
    let lock = read(&workspace.join("Cargo.lock"))?;
    let (_, package) =
        lock.split_once("name = \"hyper\"\n").ok_or("Cargo.lock does not contain hyper")?;
    version_in(package)
}
