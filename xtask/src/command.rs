//! Functions that print and run the commands of tasks.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use crate::{Outcome, clippy, is_part_of};

/// Runs cargo in the root of the workspace.
pub fn cargo(args: &[&str]) -> Outcome {
    let compiles = args.first().is_some_and(|verb| ["build", "check", "test"].contains(verb));
    let mut command = if compiles { compiling_command() } else { cargo_command() };
    run(command.args(args).current_dir(root()))
}

/// Returns a cargo command in the root of the workspace; in `ci`, it compiles
/// with clippy.
pub(crate) fn compiling_command() -> Command {
    let mut command = cargo_command();
    if is_part_of("ci") {
        clippy::compiles(&mut command);
        // Many tests wait for a timer.
        let processors = available_parallelism().map_or(1, usize::from);
        command.env("RUST_TEST_THREADS", (TESTS_PER_PROCESSOR * processors).to_string());
    }
    command.current_dir(root());
    command
}

/// Makes a cargo command compile without the parts that only serve a second
/// compilation or a debugger. A panic reports its line without debug info.
pub(crate) fn build_once(command: &mut Command) {
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
}

/// The number of concurrent tests per processor. On two processors, the tests
/// of `stockade-server` take 34 s with one, 19 s with two and 11 s with four.
const TESTS_PER_PROCESSOR: usize = 4;

/// Prints and runs a cargo command, and returns its output.
pub fn cargo_output(args: &[&str]) -> Result<String, String> {
    let mut command = cargo_command();
    command.args(args).current_dir(root()).stderr(Stdio::inherit());
    announce(&command);
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", args.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Prints and runs a command, and fails if the command fails.
pub fn run(command: &mut Command) -> Outcome {
    announce(command);
    let line = line_of(command);
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Prints a command that is about to run.
pub fn announce(command: &Command) {
    println!("$ {}", line_of(command));
}

/// Formats a command as a user would type it, with the variables that it sets.
fn line_of(command: &Command) -> String {
    let program = command.get_program();
    let program = if program == cargo_path().as_str() { "cargo".as_ref() } else { program };
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let set =
        set.map(|(name, value)| format!("{}={}", name.display(), quoted(&value.to_string_lossy())));
    let words = std::iter::once(program).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    set.chain(words).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell if necessary.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '"', '$']) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

/// Returns a cargo command as a shell would start it, without the package
/// variables of `cargo run`. If these differ, ring and all its dependents are
/// compiled again.
pub fn cargo_command() -> Command {
    as_from_a_shell(Command::new(cargo_path()))
}

/// Returns a cargo command with low priority, which uses only idle processor
/// time.
pub(crate) fn modest_cargo_command() -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "19", &cargo_path()]);
    as_from_a_shell(command)
}

/// Removes the package variables of `cargo run`.
pub(crate) fn as_from_a_shell(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        let is_of_package = |begin: &&str| name.to_string_lossy().starts_with(begin);
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(is_of_package) {
            command.env_remove(name);
        }
    }
    command
}

fn cargo_path() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Returns cargo's target directory.
pub fn target_directory() -> Result<PathBuf, String> {
    target_directory_of(".")
}

/// Returns cargo's target directory for the workspace in this folder.
pub(crate) fn target_directory_of(workspace: &str) -> Result<PathBuf, String> {
    let manifest = format!("{workspace}/Cargo.toml");
    let metadata = cargo_output(&[
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--manifest-path",
        &manifest,
    ])?;
    let (_, rest) = metadata.split_once("\"target_directory\":\"").ok_or("no target directory")?;
    let (path, _) = rest.split_once('"').ok_or("no target directory")?;
    Ok(path.replace("\\\\", "\\").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = cargo_command();
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-Dwarnings").env_remove("PORT");
        assert_eq!(line_of(&command), "RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps");

        let mut command = Command::new("sh");
        command.args(["-c", "kill -TERM \"$0\"", "7"]);
        assert_eq!(line_of(&command), "sh -c 'kill -TERM \"$0\"' 7");
    }
}
