//! `first-minute`: what a newcomer compiles first.
//!
//! Builds the smallest program on stockade and on axum side by side, and the
//! shop, each into an empty folder and with packages that are already
//! downloaded. Prints the figures with their goals. Fails if a figure is above
//! `tests/first-minute.txt` by more than its tolerance; `--save` writes the
//! file. The processor time of the shop depends on the machine, so it is only
//! printed.

use std::collections::BTreeSet;
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{Outcome, cargo_command, root, skip, target_directory};

use crate::measure::{Cost, TIMES, cost_of};

pub(crate) fn run() -> Outcome {
    if !Path::new(TIMES).exists() {
        skip("the first minute (it requires the processor time in /proc)");
        return Ok(());
    }
    let save = match env::args().skip(2).collect::<Vec<_>>()[..] {
        [] => false,
        [ref option] if option == "--save" => true,
        _ => return Err("usage: cargo xtask first-minute [--save]".to_owned()),
    };
    let folder = target_directory()?.join("first-minute");
    // The folder may not exist.
    let _ = fs::remove_dir_all(&folder);
    let hello = Program::write(&folder, "hello", &facade(""), STOCKADE)?;
    let server = facade(", default-features = false, features = [\"server\"]");
    let server = Program::write(&folder, "hello-server", &server, STOCKADE)?;
    let axum = Program::write(&folder, "hello-axum", AXUM_DEPENDENCY, AXUM)?;

    let (costs, axum_cost) = (hello.build()?, axum.build()?);
    let mut shop = cargo_command();
    shop.args(["build", "-p", "shop"]).current_dir(root());
    let shop = cost_of(shop.env("CARGO_TARGET_DIR", folder.join("shop-target")))?;
    let ratio = 100.0 * costs.processor.as_secs_f64() / axum_cost.processor.as_secs_f64();
    let figures = [
        Figure::new("hello-packages", hello.packages()?, 75),
        Figure::new("hello-server-packages", server.packages()?, 55),
        Figure::new("hello-binary-bytes", hello.binary()?, 60_000_000),
        Figure::new("hello-percent-of-axum", ratio.round(), 200),
        Figure::new("shop-processor-seconds", shop.processor.as_secs_f64().round(), 210),
    ];
    println!("\n{}", table(&figures, &hello, &axum)?);
    if save {
        let lines: String =
            figures.iter().filter(|it| it.is_recorded()).map(Figure::line).collect();
        return fs::write(root().join(RECORD), HEAD.to_owned() + &lines)
            .map_err(|error| format!("{RECORD}: {error}"));
    }
    let record = fs::read_to_string(root().join(RECORD)).map_err(|e| format!("{RECORD}: {e}"))?;
    let faults: Vec<String> = figures.iter().filter_map(|figure| figure.fault(&record)).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// A program in a folder of its own.
struct Program {
    folder: PathBuf,
    name: &'static str,
}

impl Program {
    fn write(
        folder: &Path,
        name: &'static str,
        dependency: &str,
        code: &str,
    ) -> Result<Self, String> {
        let folder = folder.join(name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n[dependencies]\n{dependency}\n{TOKIO}\n\n{PROFILE}"
        );
        let write = |path: &str, text: &str| {
            fs::write(folder.join(path), text).map_err(|error| format!("{path}: {error}"))
        };
        fs::create_dir_all(folder.join("src")).map_err(|error| error.to_string())?;
        write("Cargo.toml", &manifest)?;
        write("src/main.rs", code)?;
        // The versions of the workspace, which are already downloaded.
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))
            .map_err(|error| error.to_string())?;
        Ok(Self { folder, name })
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo_command();
        command.args(args).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command
    }

    fn build(&self) -> Result<Cost, String> {
        cost_of(&mut self.cargo(&["build"]))
    }

    /// Returns the number of packages, with the program itself.
    fn packages(&self) -> Result<f64, String> {
        let tree = ["tree", "--edges", "normal,build", "--prefix", "none"];
        let output = self.cargo(&tree).output().map_err(|error| format!("cargo tree: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo tree fails in {}", self.folder.display()));
        }
        let output = String::from_utf8_lossy(&output.stdout);
        let lines = output.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>());
        Ok(lines.collect::<BTreeSet<_>>().len() as f64)
    }

    fn binary(&self) -> Result<f64, String> {
        let file = self.folder.join(format!("target/debug/{}{EXE_SUFFIX}", self.name));
        let size = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(size.len() as f64)
    }
}

fn facade(options: &str) -> String {
    format!("stockade = {{ path = \"{}\"{options} }}", root().join("facade").display())
}

/// A figure with the goal of the project.
struct Figure {
    name: &'static str,
    figure: f64,
    goal: u32,
}

impl Figure {
    fn new(name: &'static str, figure: f64, goal: u32) -> Self {
        Self { name, figure, goal }
    }

    /// Returns true if the figure repeats on another machine.
    fn is_recorded(&self) -> bool {
        !self.name.ends_with("seconds")
    }

    fn line(&self) -> String {
        format!("{} {}\n", self.name, self.figure)
    }

    /// The allowed growth: packages are exact, sizes vary a little with the
    /// compiler, and a ratio of times varies with the load of the machine.
    fn tolerance(&self) -> f64 {
        match self.name {
            name if name.ends_with("packages") => 1.0,
            name if name.ends_with("bytes") => 1.1,
            _ => 1.25,
        }
    }

    fn fault(&self, record: &str) -> Option<String> {
        if !self.is_recorded() {
            return None;
        }
        let line = record.lines().find_map(|line| line.strip_prefix(self.name)?.strip_prefix(' '));
        let Some(then) = line.and_then(|figure| figure.parse::<f64>().ok()) else {
            return Some(format!(
                "{RECORD} does not contain {}; run the task with --save",
                self.name
            ));
        };
        (self.figure > then * self.tolerance())
            .then(|| format!("{}: {}, the record in {RECORD} is {then}", self.name, self.figure))
    }
}

fn table(figures: &[Figure], hello: &Program, axum: &Program) -> Result<String, String> {
    let mut text = "| figure | goal | now | |\n|---|--:|--:|---|\n".to_owned();
    for Figure { name, figure, goal } in figures {
        let state = if *figure <= f64::from(*goal) { "met" } else { "missed" };
        text += &format!("| {name} | {goal} | {figure} | {state} |\n");
    }
    let (ours, theirs) = (hello.binary()? / 1e6, axum.binary()? / 1e6);
    Ok(format!(
        "{text}\naxum: {} packages; binaries: {ours:.0} MB, and {theirs:.0} MB with axum",
        axum.packages()?
    ))
}

const RECORD: &str = "tests/first-minute.txt";

const HEAD: &str = "\
# What a newcomer compiles first: `cargo xtask first-minute --save` writes this file, and the
# task fails if a figure grows. Packages include the program itself. The time is processor time
# in percent of the same program on axum.
";

const TOKIO: &str = "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }";

/// The profile that the book recommends.
const PROFILE: &str = "[profile.dev]\ndebug = \"line-tables-only\"\n";

const STOCKADE: &str = r#"use stockade::prelude::*;

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let api = routes! { GET: async || "hello" };
    create_router(api, RouterOptions::new()).listen(3000).await
}
"#;

const AXUM_DEPENDENCY: &str = "axum = \"0.8\"";

const AXUM: &str = r#"use axum::{Router, routing::get};

#[tokio::main]
async fn main() -> Result<(), std::io::Error> {
    let app = Router::new().route("/", get(|| async { "hello" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app).await
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_figure_is_a_fault() {
        let record = "hello-packages 74\nhello-binary-bytes 100\nhello-percent-of-axum 200\n";
        for (name, figure, is_fault) in [
            ("hello-packages", 74.0, false),
            ("hello-packages", 75.0, true),
            ("hello-binary-bytes", 110.0, false),
            ("hello-binary-bytes", 111.0, true),
            ("hello-percent-of-axum", 250.0, false),
            ("hello-percent-of-axum", 251.0, true),
            ("other-packages", 1.0, true),
            ("shop-processor-seconds", 9_999.0, false),
        ] {
            let fault = Figure::new(name, figure, 1).fault(record);
            assert_eq!(fault.is_some(), is_fault, "{name} {figure}: {fault:?}");
        }
    }
}
