//! Tests with other versions of the dependencies than those in `Cargo.lock`:
//! the newest ones, and the lowest ones that the manifests allow.
//!
//! Everything runs in a copy of the workspace, `target/updated/workspace`, so
//! the tracked lock files do not change. Both use one target directory, because
//! most dependencies are the same. It is next to the copy: the tests of compile
//! errors expect that the sources are not below the target directory.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tidy::files_below;
use crate::{Outcome, announce, cargo_command, is_part_of, root, run as started, target_directory};

/// Runs the tests with both sets of versions; `--newest` and `--lowest` select
/// one of them, and `--check` only compiles.
pub fn run() -> Outcome {
    let options: Vec<String> = env::args().skip(2).collect();
    let known = ["--newest", "--lowest", "--check"];
    let is_known = |option: &String| known.contains(&option.as_str());
    if !is_part_of("nightly") && !options.iter().all(is_known) {
        return Err("usage: cargo xtask updated [--newest|--lowest] [--check]".to_owned());
    }
    let has = |name: &str| options.iter().any(|option| option == name);
    let folder = target_directory()?.join("updated");
    let (workspace, target) = (folder.join("workspace"), folder.join("target"));
    for (option, update) in SETS {
        let is_selected = has(option) || !SETS.iter().any(|(other, _)| has(other));
        if is_selected {
            copy(&root(), &workspace)?;
            resolve(&workspace, update)?;
            test(&workspace, &target, has("--check"))
                .map_err(|error| format!("{option}: {error}"))?;
        }
    }
    Ok(())
}

/// The sets of versions: an option, and the arguments of cargo that write the
/// lock file.
const SETS: &[(&str, &[&str])] = &[
    ("--newest", &["update"]),
    // Lowers only the direct dependencies: the lower bounds of other packages
    // are often wrong, and are not ours to correct.
    ("--lowest", &["update", "-Zdirect-minimal-versions"]),
];

/// Writes the lock file of the copy.
fn resolve(workspace: &Path, arguments: &[&str]) -> Outcome {
    let mut cargo = cargo_command();
    cargo.args(arguments).current_dir(workspace);
    if arguments.iter().any(|argument| argument.starts_with("-Z")) {
        // The option is unstable, and only cargo uses it: the compilation
        // below uses the stable toolchain.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    started(&mut cargo)
}

fn test(workspace: &Path, target: &Path, only_compile: bool) -> Outcome {
    let mut cargo = cargo_command();
    if only_compile {
        cargo.args(["check", "--tests"]);
    } else {
        cargo.arg("test");
    }
    cargo.args(["--locked", "--workspace", "--all-features"]);
    started(cargo.env("CARGO_TARGET_DIR", target).current_dir(workspace))
}

/// Copies all files that git tracks, or would track, and removes other files.
/// A file with the same content keeps its time, so it is not compiled again.
fn copy(from: &Path, to: &Path) -> Outcome {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    announce(&git);
    let output = git.current_dir(from).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        return Err("`git ls-files` failed: this task copies the files that git lists".to_owned());
    }
    let names = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    // A deleted file is listed until its deletion is committed.
    let names = names.split_terminator('\0').filter(|name| from.join(name).exists());
    let names: HashSet<PathBuf> = names.map(PathBuf::from).collect();
    for name in &names {
        let fault = |error: std::io::Error| format!("{}: {error}", name.display());
        let content = fs::read(from.join(name)).map_err(fault)?;
        let copy = to.join(name);
        if fs::read(&copy).is_ok_and(|found| found == content) {
            continue;
        }
        fs::create_dir_all(copy.parent().unwrap_or(to)).map_err(fault)?;
        fs::write(&copy, content).map_err(fault)?;
    }
    for path in files_below(to) {
        let is_copy = path.strip_prefix(to).is_ok_and(|name| names.contains(name));
        if !is_copy {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Folder;

    #[test]
    fn the_copy_follows_the_files_that_git_lists() {
        let folder = Folder::new("updated").unwrap();
        let (from, to) = (folder.0.join("from"), folder.0.join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        let git = |arguments: &[&str]| {
            let status = Command::new("git").args(arguments).current_dir(&from).status();
            assert!(status.unwrap().success());
        };
        git(&["init", "--quiet"]);
        fs::write(from.join(".gitignore"), "ignored\n").unwrap();
        fs::write(from.join("ignored"), "").unwrap();
        fs::write(from.join("src/a.rs"), "a").unwrap();
        fs::write(from.join("b"), "b").unwrap();
        copy(&from, &to).unwrap();
        let names = |folder: &Path| {
            let files = files_below(folder).into_iter();
            let names = files.map(|path| path.strip_prefix(folder).unwrap().display().to_string());
            names.filter(|name| !name.starts_with(".git/")).collect::<Vec<_>>()
        };
        assert_eq!(names(&to), [".gitignore", "b", "src/a.rs"]);
        git(&["add", "--all"]);
        fs::remove_file(from.join("b")).unwrap();
        fs::write(from.join("src/a.rs"), "changed").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(names(&to), [".gitignore", "src/a.rs"]);
        assert_eq!(fs::read_to_string(to.join("src/a.rs")).unwrap(), "changed");
    }
}
