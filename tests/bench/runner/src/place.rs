//! Paths, and functions that run commands.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Outcome;

/// Returns the folder of the benchmark: `tests/bench`.
pub fn folder() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Returns the target directory of the benchmark.
pub fn target() -> Outcome<PathBuf> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    own.ancestors().nth(2).map(Path::to_owned).ok_or("this program has no folder".to_owned())
}

/// Returns a release program of this workspace.
pub fn program(name: &str) -> Outcome<PathBuf> {
    Ok(target()?.join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

/// Returns the date of today, such as `2026-11-29`.
pub fn date() -> Outcome<String> {
    let output = Command::new("date").arg("+%F").output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Builds packages of this workspace separately. Otherwise contestants would
/// share their features.
pub fn build(packages: &[&str]) -> Outcome {
    packages.iter().try_for_each(|package| build_together(&[package]))
}

/// Builds packages of this workspace together, which compiles shared
/// dependencies only once.
pub fn build_together(packages: &[&str]) -> Outcome {
    let mut command = cargo()?;
    command.args(["build", "--release", "--locked"]);
    command.args(packages.iter().flat_map(|package| ["-p", package]));
    run(&mut command)
}

/// Returns a cargo command for the workspace of the benchmark.
pub fn cargo() -> Outcome<Command> {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(folder()).env("CARGO_TARGET_DIR", target()?);
    // Every contestant must be built in the same way in any environment.
    command.env_remove("CARGO_INCREMENTAL");
    // Cargo sets variables about this program's own package. They would cause a
    // rebuild of ring and its dependents after each manual start.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| OWN.iter().any(|own| name.starts_with(own))) {
            command.env_remove(name);
        }
    }
    Ok(command)
}

/// The prefixes of variables that describe the package that cargo runs.
const OWN: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// Returns the command that starts a server in the folder `node`.
pub fn script(name: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(script_of(name));
    command.env("NODE_ENV", "production");
    command
}

/// Returns the file of a server in the folder `node`.
pub fn script_of(name: &str) -> PathBuf {
    folder().join("node").join(format!("{name}.mjs"))
}

/// Describes the processors and the operating system of this machine.
pub fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let models: Vec<&str> = processors
        .lines()
        .filter_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map(|(_, model)| model)
        .collect();
    // The text after the version is specific to the build.
    let release = read("/proc/sys/kernel/osrelease");
    let release = release.split('-').next().unwrap_or_default().trim();
    let model = models.first().copied().unwrap_or("an unknown model");
    format!("{} processors ({model}), Linux {release}", models.len())
}

/// Installs the locked dependencies of the servers in the folder `node`.
/// Returns true if the servers can run.
pub fn install() -> bool {
    let tools = ["node", "npm"];
    let mut command = Command::new("npm");
    command.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    tools.iter().all(|tool| is_installed(tool, "--version"))
        && run(command.current_dir(folder().join("node"))).is_ok()
}

/// Prints a command and runs it.
pub fn run(command: &mut Command) -> Outcome {
    let line = announce(command);
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Runs a command and returns its output.
pub fn output(command: &mut Command) -> Outcome<String> {
    let line = line(command);
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{line}` failed"));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Returns true if a program with this name can be started.
pub fn is_installed(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The processor of the server.
pub const SERVER: usize = 0;

/// The processor of the load.
pub const LOAD: usize = 1;

/// Runs a function on one processor. Processes that it starts stay there.
pub fn on<T>(processor: usize, what: impl FnOnce() -> T) -> Outcome<T> {
    let whole = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let mut one = CpuSet::new();
    one.set(processor);
    sched_setaffinity(None, &one).map_err(|error| format!("processor {processor}: {error}"))?;
    let outcome = what();
    sched_setaffinity(None, &whole).map_err(|error| error.to_string())?;
    Ok(outcome)
}

/// Reports a skipped step. `cargo xtask` repeats it at the end.
pub fn skip(what: &str) {
    println!("SKIPPED: {what}");
}

fn announce(command: &Command) -> String {
    let line = line(command);
    println!("$ {line}");
    line
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
