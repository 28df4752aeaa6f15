//! Checks that the workspace compiles on other systems. On macOS and Windows it
//! also runs the tests.
//!
//! `cargo check` does not link, so Linux needs only the standard library of a
//! target (`rustup target add`). Build scripts compile C sources even then; the
//! compiler of this task writes empty files instead.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{
    Outcome, announce, cargo, cargo_command, crates, root, run as started, skip, target_directory,
};

pub fn run() -> Outcome {
    if cfg!(target_os = "linux") {
        return others();
    }
    cargo(&["check", "--locked", "--workspace", "--all-features", "--all-targets"])?;
    let mut arguments = vec!["test", "--locked", "--all-features"];
    crates().for_each(|krate| arguments.extend(["-p", krate]));
    cargo(&arguments)
}

/// Checks the workspace for each installed target.
fn others() -> Outcome {
    let installed = installed()?;
    let stub = stub()?;
    for target in TARGETS {
        if !installed.lines().any(|line| line == *target) {
            skip(&format!("the check for {target} (`rustup target add {target}`)"));
            continue;
        }
        let mut check = cargo_command();
        check.args(["check", "--locked", "--workspace", "--all-features", "--all-targets"]);
        check.args(["--target", target]);
        check.env(format!("CC_{}", target.replace('-', "_")), &stub);
        check.env(format!("AR_{}", target.replace('-', "_")), &stub);
        started(check.current_dir(root()))?;
    }
    Ok(())
}

/// The systems of other users. The first two have their own code paths, and the
/// third has other sizes of C types.
const TARGETS: &[&str] =
    &["x86_64-pc-windows-gnu", "x86_64-apple-darwin", "aarch64-unknown-linux-gnu"];

/// Returns the installed targets, one per line.
fn installed() -> Result<String, String> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "list", "--installed"]).stderr(Stdio::null());
    announce(&rustup);
    match rustup.output() {
        Ok(output) if output.status.success() => {
            String::from_utf8(output.stdout).map_err(|error| error.to_string())
        }
        // Compilers from other sources have only one target.
        _ => Ok(String::new()),
    }
}

/// Writes a compiler and archiver that only creates its output file.
fn stub() -> Result<PathBuf, String> {
    let path = target_directory()?.join("stub-cc");
    fs::write(&path, STUB).map_err(|error| format!("{}: {error}", path.display()))?;
    started(Command::new("chmod").arg("+x").arg(&path))?;
    Ok(path)
}

/// Creates the file after `-o`, or the archive in the arguments.
const STUB: &str = "#!/bin/sh
while [ $# -gt 0 ]; do
    case \"$1\" in
        -o) : > \"$2\"; shift ;;
        *.a) : > \"$1\" ;;
    esac
    shift
done
";
