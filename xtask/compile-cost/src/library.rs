//! [`Library`]: the crates of this checkout as a repository of git, of which a program can
//! depend as it would on ours.
//!
//! Cargo compiles a dependency by path as it compiles the program itself: incrementally
//! and in 256 parts, which costs more, and is larger. Users have it from a registry or from
//! git. So the files as they are now, committed or not, are the one commit of a repository
//! below `target/`. A shallow clone, a checkout without a branch and an archive without git's
//! data are all the same to it, and the same files give the same commit.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::{announce, root};

/// A repository that has the library, and the commit in it.
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

/// Says which state of this checkout is measured.
pub fn state() -> String {
    let Ok(commit) = git(&["rev-parse", "--short=10", "HEAD"]) else {
        return "these files, which are of no commit".to_owned();
    };
    let status = [&["status", "--porcelain", "--"], &FILES[..]].concat();
    match git(&status) {
        Ok(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with what has changed since"),
    }
}

/// All that a program compiles of this checkout.
const FILES: [&str; 4] = ["Cargo.toml", "README.md", "crates", "facade"];

/// Runs git in the root of the workspace, and gives what it says.
fn git(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root());
    announce(&command);
    // One author and one time, so that only the files make the name of the commit.
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "xtask");
        command.env(format!("GIT_{who}_EMAIL"), "xtask@localhost");
        command.env(format!("GIT_{who}_DATE"), "2000-01-01T00:00:00Z");
    }
    // A hook of git has one, of the wrong repository.
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
    fn what_is_compiled_is_there() {
        for file in FILES {
            assert!(root().join(file).exists(), "{file}");
        }
    }
}
