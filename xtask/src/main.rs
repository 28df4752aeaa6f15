//! `cargo xtask <task>`: every chore of this repository, in Rust.
//!
//! Rules: no dependencies; every command is printed before it runs; without a
//! task it prints the table; exit 2 for wrong use, 1 for failure.

mod audit;
mod examples;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const TASKS: &[Task] = &[
    Task { name: "ci", about: "everything that must hold before a merge", run: ci },
    Task { name: "fmt", about: "check the formatting; `fmt --fix` writes it", run: fmt },
    Task { name: "lint", about: "clippy, each feature alone, tidiness of the files", run: lint },
    Task { name: "test", about: "unit, integration and documentation tests", run: test },
    Task { name: "doc", about: "build the documentation; `doc --open` shows it", run: doc },
    Task {
        name: "examples",
        about: "build the examples, run the shop and its README lines",
        run: examples::run,
    },
    Task { name: "audit", about: "who depends on whom, licences, advisories", run: audit::run },
];

struct Task {
    name: &'static str,
    about: &'static str,
    run: fn() -> Outcome,
}

/// What a task says when it fails.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let name = env::args().nth(1).unwrap_or_default();
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("usage: cargo xtask <task>\n");
        for task in TASKS {
            eprintln!("  {:<9} {}", task.name, task.about);
        }
        return ExitCode::from(2);
    };
    match (task.run)() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All tasks in order; the first failure ends it.
fn ci() -> Outcome {
    let mut summary = String::new();
    for task in TASKS.iter().filter(|task| task.name != "ci") {
        let start = Instant::now();
        (task.run)().map_err(|error| {
            format!("{error}\nrepeat this step with: cargo xtask {}", task.name)
        })?;
        summary += &format!("  {:<9} ok, {} s\n", task.name, start.elapsed().as_secs());
    }
    println!("\nci passed\n{summary}");
    Ok(())
}

fn fmt() -> Outcome {
    if env::args().any(|arg| arg == "--fix") {
        return cargo(&["fmt", "--all"]);
    }
    cargo(&["fmt", "--all", "--check"])
}

fn lint() -> Outcome {
    tidy::run()?;
    cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-Dwarnings"])?;
    // A workspace build unifies features and hides what a lone crate lacks.
    for feature in FACADE_FEATURES {
        cargo(&["check", "-p", "stockade", "--no-default-features", "--features", feature])?;
    }
    cargo(&["check", "-p", "stockade", "--no-default-features"])
}

/// Each is compiled alone by `lint`.
const FACADE_FEATURES: &[&str] = &["multipart", "server", "tls"];

fn test() -> Outcome {
    cargo(&["test", "--workspace", "--all-features"])?;
    for krate in STANDALONE {
        cargo(&["test", "-p", krate])?;
    }
    Ok(())
}

/// Crates that promise to work alone, tested without the features that other
/// crates switch on.
const STANDALONE: &[&str] = &["stockade-errors", "stockade-path", "stockade-core"];

fn doc() -> Outcome {
    let mut args = vec!["doc", "--workspace", "--all-features", "--no-deps"];
    if env::args().any(|arg| arg == "--open") {
        args.push("--open");
    }
    run(Command::new(cargo_path()).args(args).env("RUSTDOCFLAGS", "-Dwarnings").current_dir(root()))
}

/// Runs cargo in the root of the workspace.
fn cargo(args: &[&str]) -> Outcome {
    run(Command::new(cargo_path()).args(args).current_dir(root()))
}

/// Runs cargo and gives what it printed.
fn cargo_output(args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(cargo_path());
    command.args(args).current_dir(root()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", args.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Prints a command, runs it, and fails if it fails.
fn run(command: &mut Command) -> Outcome {
    let words: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    println!("$ cargo {}", words.join(" "));
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`cargo {}` failed", words.join(" "))) }
}

fn cargo_path() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
