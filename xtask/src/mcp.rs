//! Checks the MCP endpoint with third-party programs: the official conformance
//! suite, the Inspector, the SDKs of TypeScript, Python and Rust, and hosts.
//!
//! `tests/mcp-clients` contains the calls, the pinned versions, and the failures
//! of the suite that are expected. Its package is the fixture: an application
//! with the tools that the suite calls. Packages are installed below
//! `target/mcp`. The hosts have 1.3 GB, so only `--hosts` and `nightly` install
//! them.

use std::env::consts::{ARCH, EXE_SUFFIX, OS};
use std::env::{self, join_paths, split_paths};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::openapi::{address, copy, database, install_node, install_npm, install_python, python};
use crate::running::Running;
use crate::{
    Outcome, announce, cargo, cargo_command, is_part_of, root, run as started, skip,
    target_directory, target_directory_of,
};

/// The protocol versions of the suite. Each has a file with the expected
/// failures.
const VERSIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// Scenarios that the suite does not score, with their number of checks. All
/// checks must pass.
const UNSCORED: [(&str, usize); 1] = [("http-header-validation", 14)];

pub fn run() -> Outcome {
    let folder = target_directory()?.join("mcp");
    copy(&root().join("tests/mcp-clients"), &folder)?;
    let Some(tools) = Tools::install(&folder) else {
        skip("the conformance suite, the Inspector and all clients (npm and its registry)");
        return Ok(());
    };
    cargo(&["build", "-p", "stockade-tests-mcp"])?;
    let program = target_directory()?.join(format!("debug/stockade-tests-mcp{EXE_SUFFIX}"));
    let (_fixture, url) = serve(&mut Command::new(program), "the fixture")?;
    let url = format!("{url}/mcp");
    tools.check_conformance(&url)?;
    tools.call_with_clients(&url)?;
    tools.check_lists()?;
    if env::args().any(|argument| argument == "--hosts") || is_part_of("nightly") {
        tools.connect_hosts(&url)?;
    } else {
        skip("Claude Code, Gemini CLI, opencode and Codex (`cargo xtask mcp --hosts`)");
    }
    Ok(())
}

/// The installed tools.
struct Tools<'f> {
    folder: &'f Path,
    /// The search path of programs, which begins with a Node of version 22.
    path: OsString,
}

impl<'f> Tools<'f> {
    /// Installs the suite, which brings a Node of the version that it needs.
    fn install(folder: &'f Path) -> Option<Self> {
        let suite = folder.join("conformance");
        if !install_node(&suite) {
            return None;
        }
        let own = suite.join(format!("node_modules/node-{}/bin", platform()));
        let path = env::var_os("PATH").unwrap_or_default();
        let path = join_paths(std::iter::once(own).chain(split_paths(&path))).ok()?;
        let tools = Self { folder, path };
        let mut version = tools.command("node");
        announce(version.arg("--version"));
        let version = version.output().ok()?.stdout;
        let version = String::from_utf8_lossy(&version);
        let major = version.trim().strip_prefix('v')?.split('.').next()?.parse::<u32>().ok()?;
        (major >= 22).then_some(tools)
    }

    /// Returns a command that finds the installed Node.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        // The search path of the child is not used to find its program.
        let name = program.as_ref();
        let found = split_paths(&self.path).map(|folder| folder.join(name)).find(|it| it.exists());
        let mut command = Command::new(found.unwrap_or_else(|| name.to_owned()));
        command.env("PATH", &self.path).current_dir(self.folder);
        command
    }

    /// Runs the suite for each version, and the scenarios that it does not score.
    fn check_conformance(&self, url: &str) -> Outcome {
        for version in VERSIONS {
            let expected = format!("conformance/{version}.yml");
            let options = ["--requirements", version, "--expected-failures", &expected];
            self.run_suite(url, &options, version)?;
        }
        for (scenario, checks) in UNSCORED {
            let output = self.run_suite(url, &["--scenario", scenario], scenario)?;
            let expected = format!("Passed: {checks}/{checks}, 0 failed, 0 warnings");
            if !output.contains(&expected) {
                return Err(format!("{scenario}: expected {expected:?}, found:\n{output}"));
            }
            println!("ok  {scenario}: {checks} checks");
        }
        Ok(())
    }

    /// Runs the suite, and returns its output. The output has hundreds of lines,
    /// so it is a file, and only a failure prints its end.
    fn run_suite(&self, url: &str, options: &[&str], name: &str) -> Result<String, String> {
        let log = self.folder.join(format!("conformance-{name}.log"));
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let suite = self.folder.join("conformance/node_modules/.bin/conformance");
        let mut suite = self.command(suite);
        suite.args(["server", "--url", url, "-o", "results"]).args(options);
        let error_file = file.try_clone().map_err(|error| error.to_string())?;
        announce(suite.stdout(file).stderr(error_file));
        let status = suite.status().map_err(|error| format!("cannot start the suite: {error}"))?;
        let output = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        let summary = output.find("=== SUMMARY ===").unwrap_or_default();
        let summary = output.get(summary..).unwrap_or_default();
        if !status.success() {
            return Err(format!("{summary}\nthe suite failed; see {}", log.display()));
        }
        if let Some(total) = summary.lines().find(|line| line.starts_with("Total: ")) {
            println!("ok  {name}: {total}");
        }
        Ok(output)
    }

    /// Calls the fixture with the SDKs, in each of their modes.
    fn call_with_clients(&self, url: &str) -> Outcome {
        let npm = self.folder.join("npm");
        if install(&npm) {
            let mut node = self.command("node");
            started(node.arg("clients.mjs").current_dir(npm).env("URL", url))?;
        } else {
            skip("the TypeScript SDKs and the Inspector (npm and its registry)");
        }
        let folder = self.folder.join("python");
        if install_python(&folder) {
            started(python(&folder, "python").arg("clients.py").env("URL", url))?;
        } else {
            skip("the Python SDK (python3 with `venv`, and access to PyPI)");
        }
        let mut rmcp = cargo_command();
        rmcp.args(["run", "--quiet", "--locked"]).env("URL", url);
        started(rmcp.current_dir(root().join("tests/mcp-clients/rmcp")))
    }

    /// Checks the schemas of the shop and of Conduit with the Inspector, and
    /// counts the tokens of each tool.
    fn check_lists(&self) -> Outcome {
        let npm = self.folder.join("npm");
        if !install(&npm) {
            return Ok(());
        }
        // No other feature of the shop adds a tool.
        cargo(&["build", "-p", "shop", "--bin", "shop"])?;
        let shop = target_directory()?.join(format!("debug/shop{EXE_SUFFIX}"));
        let mut shop = Command::new(shop);
        shop.env("SHOP_DATABASE", ":memory:").env("SHOP_ADMIN_PASSWORD", "correct horse");
        self.check_list("shop", shop)?;
        let mut build = cargo_command();
        build.args(["build", "--quiet", "--locked"]).current_dir(root().join(CONDUIT));
        started(&mut build)?;
        let conduit = target_directory_of(CONDUIT)?.join(format!("debug/conduit{EXE_SUFFIX}"));
        let mut conduit = Command::new(conduit);
        conduit.env("CONDUIT_DB", database(self.folder, "conduit")?);
        self.check_list("conduit", conduit)
    }

    fn check_list(&self, name: &str, mut program: Command) -> Outcome {
        let (_program, url) = serve(&mut program, name)?;
        let mut node = self.command("node");
        node.args(["lists.mjs", name]).current_dir(self.folder.join("npm"));
        started(node.env("URL", url))
    }

    /// Connects the command lines of hosts, without a model and an account.
    fn connect_hosts(&self, url: &str) -> Outcome {
        let hosts = self.folder.join("hosts");
        if !install(&hosts) {
            skip("Claude Code, Gemini CLI, opencode and Codex (npm and its registry)");
            return Ok(());
        }
        let mut node = self.command("node");
        started(node.arg("hosts.mjs").current_dir(hosts).env("URL", url))
    }
}

const CONDUIT: &str = "examples/conduit";

/// Installs the packages of a lock file. Some of them have packages for other
/// systems that a registry may not have. `npm ci` then rejects the lock file.
fn install(folder: &Path) -> bool {
    install_npm(folder, &["install", "--no-save"])
}

/// Starts a program on a free port. Returns it with its URL.
fn serve(program: &mut Command, name: &str) -> Result<(Running, String), String> {
    program.env("PORT", "0").env("RUST_LOG", "info,stockade::access=off");
    program.env_remove("NODE_ENV").stdout(Stdio::piped()).stderr(Stdio::piped());
    announce(program);
    let mut program = Running::start(program, name)?;
    let (url, _) = address(&mut program)?;
    // The shop prints its address within a sentence.
    Ok((program, url.trim_end_matches(';').to_owned()))
}

/// Returns the name of this platform in npm packages.
fn platform() -> String {
    let system = if OS == "macos" { "darwin" } else { OS };
    let processor = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}
