//! [`Library`]: the crates of this checkout as a git repository, which a
//! program can depend on like users depend on the released crates.
//!
//! Cargo compiles a path dependency like the program itself: incrementally and
//! in 256 parts, which is slower and produces larger output. Users depend on a
//! registry or a git repository. The current files, committed or not, therefore
//! become the only commit of a repository below `target/`. This also works with
//! a shallow clone, a detached checkout or an archive without git data. The
//! same files always produce the same commit.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::{announce, root};

/// A repository that contains the library, and its commit.
pub struct Library {
    pub url: String,
    pub revision: String,
}

impl Library {
    /// Writes the repository below this folder.
    pub fn write(below: &Path) -> Result<Self, String> {
        let repository = below.join("library.git");
        if repository.exists() {
            fs::remove_dir_all(&repository)
                .map_err(|error| format!("{}: {error}", repository.display()))?;
        }
        let folder = repository.display().to_string();
        git(&["init", "--quiet", "--bare", &folder])?;
        let own = ["--git-dir", &folder, "--work-tree", "."];
        let in_own = |arguments: &[&str]| git(&[&own, arguments].concat());
        in_own(&[&["add", "--all", "--"], &FILES[..]].concat())?;
        let tree = in_own(&["write-tree"])?;
        let revision = in_own(&["commit-tree", "-m", "the library", &tree])?;
        in_own(&["update-ref", "refs/heads/main", &revision])?;
        Ok(Self { url: format!("file://{folder}"), revision })
    }
}

/// Describes the measured state of this checkout.
pub fn state() -> String {
    let Ok(commit) = git(&["rev-parse", "--short=10", "HEAD"]) else {
        return "uncommitted files".to_owned();
    };
    let status = [&["status", "--porcelain", "--"], &FILES[..]].concat();
    match git(&status) {
        Ok(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with uncommitted changes"),
    }
}

/// The files of this checkout that a program compiles.
const FILES: [&str; 4] = ["Cargo.toml", "README.md", "crates", "facade"];

/// Runs git in the root of the workspace and returns its output.
fn git(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root());
    announce(&command);
    // Author and time are fixed, so the commit hash depends only on the files.
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "xtask");
        command.env(format!("GIT_{who}_EMAIL"), "xtask@localhost");
        command.env(format!("GIT_{who}_DATE"), "2000-01-01T00:00:00Z");
    }
    // A git hook sets these variables for the wrong repository.
    let output = command.env_remove("GIT_INDEX_FILE").env_remove("GIT_DIR").output();
    let output = output.map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_files_exist() {
        for file in FILES {
            assert!(root().join(file).exists(), "{file}");
        }
    }
}
