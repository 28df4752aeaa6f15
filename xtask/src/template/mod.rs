//! Generates programs from `templates/api`, and runs their checks.
//!
//! `ci` tests two combinations of the choices. The full task tests all of them,
//! and compares them with the output of cargo-generate.

mod compared;
mod generate;
mod liquid;
mod locks;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::generate::{Choice, file};
use crate::command::{build_once, cargo_command};
use crate::running::Folder;
use crate::{Outcome, is_part_of, root, run as started, skip, sql, target_directory};

/// The folder of the template.
const TEMPLATE: &str = "templates/api";

/// The combinations in `ci`. Together they use two of the databases and two of
/// the authentication methods.
const IN_CI: [Choice; 2] =
    [Choice { database: "none", auth: "jwt" }, Choice { database: "sqlite", auth: "sessions" }];

/// Runs the task. `--save` writes the locks of the routes.
pub fn run() -> Outcome {
    let folder = Folder::new("template")?;
    if env::args().any(|argument| argument == "--save") {
        return save(&folder.0);
    }
    if is_part_of("ci") {
        return IN_CI.into_iter().try_for_each(|choice| check(choice, &folder.0, None));
    }
    compared::with_cargo_generate(&folder.0)?;
    let server = sql::optional_server()?;
    let address = server.as_ref().map(sql::Server::url);
    Choice::all().try_for_each(|choice| check(choice, &folder.0, address.as_deref()))
}

/// Writes the lock of the template.
fn save(folder: &Path) -> Outcome {
    for choice in Choice::all() {
        let program = written(choice, folder)?;
        let mut test = cargo(&program, &["test", "the_routes_match_the_lock"])?;
        started(test.env_remove("CI").env("STOCKADE_LOCK", "accept"))?;
    }
    locks::save(&root().join(TEMPLATE), folder)
}

/// Generates a program. It uses the versions in our lock file, so a release of
/// another crate does not change the result.
fn written(choice: Choice, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join(choice.name());
    let facade = root().join("facade").display().to_string();
    generate::write(&root().join(TEMPLATE), &program, &choice.variables(&facade))?;
    let lock = program.join("Cargo.lock");
    fs::copy(root().join("Cargo.lock"), &lock)
        .map_err(|error| format!("{}: {error}", lock.display()))?;
    Ok(program)
}

/// Generates a program, and runs the steps of its own CI file; in `ci` without
/// clippy, which compiles everything once more.
fn check(choice: Choice, folder: &Path, postgres: Option<&str>) -> Outcome {
    let program = written(choice, folder)?;
    started(&mut cargo(&program, &["fmt", "--check"])?)?;
    if !is_part_of("ci") {
        started(&mut cargo(&program, &["clippy", "--all-targets", "--", "-Dwarnings"])?)?;
    }
    let mut test = cargo(&program, &["test"])?;
    // A test never writes the lock if this variable is set.
    test.env("CI", "true");
    match postgres {
        _ if choice.database != "postgres" => {}
        Some(address) => {
            test.args(["--", "--include-ignored"]).env("TEST_DATABASE_URL", address);
        }
        None => skip(&format!(
            "the ignored tests of the program `{}`: PostgreSQL is missing",
            choice.name()
        )),
    }
    started(&mut test)
}

/// Creates a cargo command for a generated program. All programs share a target
/// folder. In `ci`, it is the folder of the workspace, which already contains
/// many of the dependencies.
fn cargo(program: &Path, arguments: &[&str]) -> Result<Command, String> {
    let mut command = cargo_command();
    command.args(arguments).current_dir(program);
    let target = target_directory()?;
    if is_part_of("ci") {
        build_once(&mut command);
        command.env("CARGO_TARGET_DIR", target);
    } else {
        command.env("CARGO_TARGET_DIR", target.join("template"));
    }
    Ok(command)
}

/// The chapter of the book that shows a file of the template.
const CHAPTER: &str = "book/src/operations/docker.md";

/// The combination that the chapter shows.
const SHOWN: Choice = Choice { database: "sqlite", auth: "sessions" };

/// Returns the faults of the template that need no compiler: the dependency on
/// stockade, and the file that the book shows.
pub fn faults(root: &Path) -> Result<Vec<String>, String> {
    let template = root.join(TEMPLATE);
    let variables = SHOWN.variables("");
    let dockerfile = file(&template, "Dockerfile", &variables)?;
    let manifest = file(&template, "Cargo.toml.liquid", &variables)?;
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let mut faults = Vec::new();
    if !read(CHAPTER)?.contains(&format!("```dockerfile\n{dockerfile}```\n")) {
        faults.push(format!("{CHAPTER}: show the Dockerfile of {TEMPLATE}:\n{dockerfile}"));
    }
    let workspace = read("Cargo.toml")?;
    let version = workspace.split_once("\nversion = ").and_then(|(_, rest)| rest.lines().next());
    let version = version.ok_or("Cargo.toml: the version is missing")?;
    if !manifest.contains(&format!("stockade = {{ version = {version}, ")) {
        faults.push(format!("{TEMPLATE}/Cargo.toml.liquid: depend on stockade {version}"));
    }
    Ok(faults)
}
